import { defineTool, type Tool } from "@planwright/tool-kit";
import { ObjectId } from "mongodb";
import { z } from "zod";
import { authorTools } from "./author-tools.ts";
import { blogTools } from "./blog-tools.ts";
import { commentTools } from "./comment-tools.ts";
import {
  CREATES,
  DELETES,
  DeletedSchema,
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
  urlField,
} from "./documents-by-id.ts";
import { type BlogDatabase, createOnce, type PictureDocument } from "./open-blog-database.ts";

/** The 18 tools, in the order in which they are listed. */
export function allTools(database: BlogDatabase): Tool[] {
  return [authorTools, blogTools, commentTools, pictureTools].flatMap((tools) => tools(database));
}

const PictureSchema = z.object({
  _id: z.string().describe("The _id of the picture"),
  blogId: z.string().describe("The _id of the blog"),
  url: z.string().describe("The web address of the picture"),
  caption: z.string().nullable().describe("The caption of the picture; null when it has none"),
  ...outputFields,
});

const createInput = z.strictObject({
  blogId: idField("The _id of the blog"),
  url: urlField("The web address (URL) of the picture, starting with http:// or https://"),
  caption: nameField("The caption of the picture: a line that is shown below it").optional(),
});

/** Tools over pictures. */
const pictureTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createPicture",
    title: "Create picture",
    description:
      "Create a picture: add an image, given by its web address, to an existing blog. Returns the picture with its _id.",
    ...CREATES,
    input: createInput,
    output: PictureSchema,
    run: async (input, { key }) => {
      const blogId = parseId("blogId", input.blogId);
      const now = new Date();
      const { url, caption = null } = input;
      const dates = { createdAt: now, updatedAt: now };
      const document: PictureDocument = { _id: new ObjectId(), blogId, url, caption, ...dates };
      const call = { tool: "createPicture", arguments: input, key };
      return await createOnce(database.pictures, call, {
        document,
        result: toPicture(document),
        check: () => requireById(database.blogs, "blog", blogId),
      });
    },
  }),
  defineTool({
    name: "getPicture",
    title: "Get picture",
    description: "Get one picture by its _id.",
    ...READS,
    input: z.strictObject({ pictureId: idField("The _id of the picture") }),
    output: PictureSchema,
    run: async ({ pictureId }) => toPicture(await getById(database.pictures, "picture", pictureId)),
  }),
  defineTool({
    name: "deletePicture",
    title: "Delete picture",
    description: "Delete a picture by its _id.",
    ...DELETES,
    input: z.strictObject({ pictureId: idField("The _id of the picture") }),
    output: DeletedSchema,
    run: async ({ pictureId }, { key }) => deleteById(database.pictures, "picture", pictureId, key),
  }),
  defineTool({
    name: "listPicturesByBlog",
    title: "List pictures by blog",
    description: "List the pictures of one blog, oldest first, page by page.",
    ...READS,
    input: z.strictObject({ blogId: idField("The _id of the blog"), ...pageInput }),
    output: z.object({
      pictures: z.array(PictureSchema).describe("The pictures of this page"),
      ...pageOutput,
    }),
    run: async ({ blogId, ...page }) => {
      const filter = { blogId: parseId("blogId", blogId) };
      const { items, ...rest } = await findPage(database.pictures, filter, page);
      if (items.length === 0) await requireById(database.blogs, "blog", filter.blogId);
      return { pictures: items.map(toPicture), ...rest };
    },
  }),
];

function toPicture(picture: PictureDocument): z.input<typeof PictureSchema> {
  const { _id, blogId, url, caption, createdAt, updatedAt } = picture;
  return {
    _id: _id.toHexString(),
    blogId: blogId.toHexString(),
    url,
    caption,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
