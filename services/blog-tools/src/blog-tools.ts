import { defineTool, type Tool } from "@planwright/tool-kit";
import { ObjectId } from "mongodb";
import { z } from "zod";
import {
  CREATES,
  contentField,
  DELETES,
  DeletedSchema,
  deleteAll,
  deleteById,
  findPage,
  getById,
  idField,
  nameField,
  outputFields,
  pageInput,
  pageOutput,
  parseId,
  READS,
  requireById,
  UPDATES,
  updateById,
} from "./documents-by-id.ts";
import { type BlogDatabase, type BlogDocument, createOnce } from "./open-blog-database.ts";

const BlogSchema = z.object({
  _id: z.string().describe("The _id of the blog"),
  title: z.string().describe("The title of the blog"),
  content: z.string().describe("The text of the blog"),
  authorId: z.string().describe("The _id of the author"),
  ...outputFields,
});

const createInput = z.strictObject({
  title: nameField("The title of the blog"),
  content: contentField("The text of the blog: what it is about"),
  authorId: idField("The _id of the author"),
});

const updateInput = z.strictObject({
  blogId: idField("The _id of the blog"),
  title: nameField("The new title of the blog").optional(),
  content: contentField("The new text of the blog").optional(),
});

/** Tools over blogs. */
export const blogTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createBlog",
    title: "Create blog",
    description:
      "Create a new blog by an existing author, with a title and content. Returns the blog with its _id, which other tools take as blogId.",
    ...CREATES,
    input: createInput,
    output: BlogSchema,
    run: async (input, { key }) => {
      const authorId = parseId("authorId", input.authorId);
      const now = new Date();
      const dates = { createdAt: now, updatedAt: now };
      const document: BlogDocument = { _id: new ObjectId(), ...input, authorId, ...dates };
      const call = { tool: "createBlog", arguments: input, key };
      return await createOnce(database.blogs, call, {
        document,
        result: toBlog(document),
        check: () => requireById(database.authors, "author", authorId),
      });
    },
  }),
  defineTool({
    name: "getBlog",
    title: "Get blog",
    description: "Get one blog by its _id.",
    ...READS,
    input: z.strictObject({ blogId: idField("The _id of the blog") }),
    output: BlogSchema,
    run: async ({ blogId }) => toBlog(await getById(database.blogs, "blog", blogId)),
  }),
  defineTool({
    name: "updateBlog",
    title: "Update blog",
    description: "Change the title or the content of a blog. Returns the changed blog.",
    ...UPDATES,
    input: updateInput,
    output: BlogSchema,
    run: async ({ blogId, title, content }) =>
      toBlog(await updateById(database.blogs, "blog", blogId, { title, content })),
  }),
  defineTool({
    name: "deleteBlog",
    title: "Delete blog",
    description: "Delete a blog by its _id. Its comments and pictures are deleted with it.",
    ...DELETES,
    input: z.strictObject({ blogId: idField("The _id of the blog") }),
    output: DeletedSchema,
    run: async (input, { key }) => {
      const blogId = parseId("blogId", input.blogId);
      const answer = await deleteById(database.blogs, "blog", input.blogId, key);
      // After the blog, so that nothing more can be added to it; a repeat with the same key gets here again.
      await Promise.all([deleteAll(database.comments, { blogId }), deleteAll(database.pictures, { blogId })]);
      return answer;
    },
  }),
  defineTool({
    name: "listBlogs",
    title: "List blogs",
    description: "List all blogs, or those of one author, oldest first, page by page.",
    ...READS,
    input: z.strictObject({
      authorId: idField("The _id of the author whose blogs are wanted; omit it for all blogs").optional(),
      ...pageInput,
    }),
    output: z.object({ blogs: z.array(BlogSchema).describe("The blogs of this page"), ...pageOutput }),
    run: async ({ authorId, ...page }) => {
      const filter = authorId === undefined ? {} : { authorId: parseId("authorId", authorId) };
      const { items, ...rest } = await findPage(database.blogs, filter, page);
      if (items.length === 0 && filter.authorId)
        await requireById(database.authors, "author", filter.authorId);
      return { blogs: items.map(toBlog), ...rest };
    },
  }),
];

function toBlog(blog: BlogDocument): z.input<typeof BlogSchema> {
  const { _id, title, content, authorId, createdAt, updatedAt } = blog;
  return {
    _id: _id.toHexString(),
    title,
    content,
    authorId: authorId.toHexString(),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
