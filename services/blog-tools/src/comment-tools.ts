import { defineTool, type Tool } from "@planwright/tool-kit";
import { ObjectId } from "mongodb";
import { z } from "zod";
import {
  CREATES,
  contentField,
  DELETES,
  DeletedSchema,
  deleteById,
  findPage,
  getById,
  idField,
  outputFields,
  pageInput,
  pageOutput,
  parseId,
  READS,
  requireById,
} from "./documents-by-id.ts";
import { type BlogDatabase, type CommentDocument, createOnce } from "./open-blog-database.ts";

const CommentSchema = z.object({
  _id: z.string().describe("The _id of the comment"),
  blogId: z.string().describe("The _id of the blog"),
  authorId: z.string().describe("The _id of the author"),
  content: z.string().describe("The text of the comment"),
  ...outputFields,
});

const createInput = z.strictObject({
  blogId: idField("The _id of the blog"),
  authorId: idField("The _id of the author"),
  content: contentField("The text of the comment: what it says"),
});

/** Tools over comments. */
export const commentTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createComment",
    title: "Create comment",
    description:
      "Create a comment: add what an author says to an existing blog. Returns the comment with its _id.",
    ...CREATES,
    input: createInput,
    output: CommentSchema,
    run: async (input, { key }) => {
      const blogId = parseId("blogId", input.blogId);
      const authorId = parseId("authorId", input.authorId);
      const now = new Date();
      const { content } = input;
      const dates = { createdAt: now, updatedAt: now };
      const document: CommentDocument = { _id: new ObjectId(), blogId, authorId, content, ...dates };
      const call = { tool: "createComment", arguments: input, key };
      return await createOnce(database.comments, call, {
        document,
        result: toComment(document),
        check: async () => {
          await requireById(database.blogs, "blog", blogId);
          await requireById(database.authors, "author", authorId);
        },
      });
    },
  }),
  defineTool({
    name: "getComment",
    title: "Get comment",
    description: "Get one comment by its _id.",
    ...READS,
    input: z.strictObject({ commentId: idField("The _id of the comment") }),
    output: CommentSchema,
    run: async ({ commentId }) => toComment(await getById(database.comments, "comment", commentId)),
  }),
  defineTool({
    name: "deleteComment",
    title: "Delete comment",
    description: "Delete a comment by its _id.",
    ...DELETES,
    input: z.strictObject({ commentId: idField("The _id of the comment") }),
    output: DeletedSchema,
    run: async ({ commentId }, { key }) => deleteById(database.comments, "comment", commentId, key),
  }),
  defineTool({
    name: "listCommentsByBlog",
    title: "List comments by blog",
    description: "List the comments of one blog, oldest first, page by page.",
    ...READS,
    input: z.strictObject({ blogId: idField("The _id of the blog"), ...pageInput }),
    output: z.object({
      comments: z.array(CommentSchema).describe("The comments of this page"),
      ...pageOutput,
    }),
    run: async ({ blogId, ...page }) => {
      const filter = { blogId: parseId("blogId", blogId) };
      const { items, ...rest } = await findPage(database.comments, filter, page);
      if (items.length === 0) await requireById(database.blogs, "blog", filter.blogId);
      return { comments: items.map(toComment), ...rest };
    },
  }),
];

function toComment(comment: CommentDocument): z.input<typeof CommentSchema> {
  const { _id, blogId, authorId, content, createdAt, updatedAt } = comment;
  return {
    _id: _id.toHexString(),
    blogId: blogId.toHexString(),
    authorId: authorId.toHexString(),
    content,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
