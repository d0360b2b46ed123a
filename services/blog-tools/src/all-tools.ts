import { defineTool, Refusal, type Tool, type ToolDefinition } from "@planwright/tool-kit";
import { ObjectId } from "mongodb";
import { z } from "zod";
import {
  type AuthorDocument,
  type BlogDatabase,
  type BlogDocument,
  type CommentDocument,
  createOnce,
  deleteAll,
  deleteById,
  findPage,
  getById,
  isDuplicateKey,
  type PictureDocument,
  parseId,
  requireById,
  updateById,
} from "./open-blog-database.ts";

/** The 18 tools, in the order in which they are listed. */
export function allTools(database: BlogDatabase): Tool[] {
  return [authorTools, blogTools, commentTools, pictureTools].flatMap((tools) => tools(database));
}

/** Arguments of a list tool. */
const pageInput = {
  limit: z.number().int().min(1).max(100).default(20).describe("How many to return at most, 1 to 100"),
  cursor: z
    .string()
    .max(100)
    .optional()
    .describe("The nextCursor of the page before; omit it for the first page"),
};

/** Fields of a list's output, beside the list itself. */
const pageOutput = {
  count: z.number().int().describe("How many are in this page"),
  nextCursor: z.string().nullable().describe("Pass it as cursor to get the next page; null on the last page"),
};

/** Longest name and title, in characters. */
const MAX_NAME = 200;
/** Longest text of a blog or a comment, in characters. */
const MAX_CONTENT = 100_000;

/**
 * An argument that contains an id. Its form is checked by {@link parseId}, so that the refusal is a clear
 * text.
 */
function idField(description: string) {
  return z.string().min(1).max(200).describe(description);
}

/** A required text of one line. */
function nameField(description: string) {
  return z.string().min(1).max(MAX_NAME).regex(/\S/, "must not be blank").describe(description);
}

/** A required text of any length up to {@link MAX_CONTENT}. */
function contentField(description: string) {
  return z.string().min(1).max(MAX_CONTENT).regex(/\S/, "must not be blank").describe(description);
}

/**
 * An email address. The pattern is deliberately loose: only sending a message shows whether an address works.
 */
function emailField(description: string) {
  return z
    .string()
    .max(320)
    .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "must be an email address such as alice@example.com")
    .meta({ description, format: "email" });
}

/** An address of the web. */
function urlField(description: string) {
  return z
    .string()
    .max(2_048)
    .regex(/^https?:\/\/[^\s/]+\S*$/, "must start with http:// or https://")
    .meta({ description, format: "uri" });
}

/** Fields that every output has. */
const outputFields = {
  createdAt: z.string().describe("When it was created, ISO 8601"),
  updatedAt: z.string().describe("When it was last changed, ISO 8601"),
};

/** Output of a delete tool. */
const DeletedSchema = z.object({
  _id: z.string().describe("The _id of what was deleted"),
  deleted: z.literal(true),
});

type Promises = Pick<ToolDefinition<z.ZodObject, z.ZodObject>, "annotations" | "contract">;

/** Contract of tools that create something new, once for each idempotency key. */
const CREATES = {
  annotations: { destructiveHint: false, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    provides: ["_id"],
    error_propagation: "fail-fast",
  },
} satisfies Promises;

/** Contract of tools that only read. */
const READS = {
  annotations: { openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: false,
    idempotency: "natural",
    error_propagation: "partial-success",
  },
} satisfies Promises;

/**
 * Contract of tools that set fields to given values: a repeat changes nothing more. They overwrite, so they
 * are destructive.
 */
const UPDATES = {
  annotations: { destructiveHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "natural",
    error_propagation: "fail-fast",
  },
} satisfies Promises;

/**
 * Contract of tools that delete. A repeat with the same idempotency key answers "deleted", not "not found".
 * Without a key a repeat is refused, and changes nothing either.
 */
const DELETES = {
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    error_propagation: "fail-fast",
  },
} satisfies Promises;

const AuthorSchema = z.object({
  _id: z.string().describe("The _id of the author"),
  name: z.string().describe("The name of the author"),
  email: z.string().describe("The email address of the author"),
  ...outputFields,
});

const createAuthorInput = z.strictObject({
  name: nameField("The name of the author, such as Alice"),
  email: emailField("The email address of the author; no two authors may have the same"),
});

const updateAuthorInput = z.strictObject({
  authorId: idField("The _id of the author"),
  name: nameField("The new name of the author").optional(),
  email: emailField("The new email address of the author").optional(),
});

/** Tools over authors. */
const authorTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createAuthor",
    title: "Create author",
    description:
      "Create a new author with a name and an email address. Returns the author with its _id, which other tools take as authorId.",
    ...CREATES,
    input: createAuthorInput,
    output: AuthorSchema,
    run: async (input, { key }) => {
      const now = new Date();
      const document: AuthorDocument = { _id: new ObjectId(), ...input, createdAt: now, updatedAt: now };
      const call = { tool: "createAuthor", arguments: input, key };
      const created = { document, result: toAuthor(document) };
      return await refuseTakenEmail(input.email, () => createOnce(database.authors, call, created));
    },
  }),
  defineTool({
    name: "getAuthor",
    title: "Get author",
    description: "Get one author by its _id.",
    ...READS,
    input: z.strictObject({ authorId: idField("The _id of the author") }),
    output: AuthorSchema,
    run: async ({ authorId }) => toAuthor(await getById(database.authors, "author", authorId)),
  }),
  defineTool({
    name: "updateAuthor",
    title: "Update author",
    description: "Change the name or the email address of an author. Returns the changed author.",
    ...UPDATES,
    input: updateAuthorInput,
    output: AuthorSchema,
    run: async ({ authorId, name, email }) => {
      const update = () => updateById(database.authors, "author", authorId, { name, email });
      return toAuthor(await refuseTakenEmail(email ?? "", update));
    },
  }),
  defineTool({
    name: "deleteAuthor",
    title: "Delete author",
    description: "Delete an author by its _id. The blogs of the author are kept.",
    ...DELETES,
    input: z.strictObject({ authorId: idField("The _id of the author") }),
    output: DeletedSchema,
    run: async ({ authorId }, { key }) => deleteById(database.authors, "author", authorId, key),
  }),
  defineTool({
    name: "listAuthors",
    title: "List authors",
    description: "List all authors, oldest first, page by page.",
    ...READS,
    input: z.strictObject(pageInput),
    output: z.object({ authors: z.array(AuthorSchema).describe("The authors of this page"), ...pageOutput }),
    run: async (page) => {
      const { items, ...rest } = await findPage(database.authors, {}, page);
      return { authors: items.map(toAuthor), ...rest };
    },
  }),
];

function toAuthor({ _id, name, email, createdAt, updatedAt }: AuthorDocument): z.input<typeof AuthorSchema> {
  return {
    _id: _id.toHexString(),
    name,
    email,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

async function refuseTakenEmail<T>(email: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDuplicateKey(error, "email")) throw error;
    throw new Refusal(`An author with the email ${email} already exists`, { cause: error });
  }
}

const BlogSchema = z.object({
  _id: z.string().describe("The _id of the blog"),
  title: z.string().describe("The title of the blog"),
  content: z.string().describe("The text of the blog"),
  authorId: z.string().describe("The _id of the author"),
  ...outputFields,
});

const createBlogInput = z.strictObject({
  title: nameField("The title of the blog"),
  content: contentField("The text of the blog: what it is about"),
  authorId: idField("The _id of the author"),
});

const updateBlogInput = z.strictObject({
  blogId: idField("The _id of the blog"),
  title: nameField("The new title of the blog").optional(),
  content: contentField("The new text of the blog").optional(),
});

/** Tools over blogs. */
const blogTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createBlog",
    title: "Create blog",
    description:
      "Create a new blog by an existing author, with a title and content. Returns the blog with its _id, which other tools take as blogId.",
    ...CREATES,
    input: createBlogInput,
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
    input: updateBlogInput,
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

const CommentSchema = z.object({
  _id: z.string().describe("The _id of the comment"),
  blogId: z.string().describe("The _id of the blog"),
  authorId: z.string().describe("The _id of the author"),
  content: z.string().describe("The text of the comment"),
  ...outputFields,
});

const createCommentInput = z.strictObject({
  blogId: idField("The _id of the blog"),
  authorId: idField("The _id of the author"),
  content: contentField("The text of the comment: what it says"),
});

/** Tools over comments. */
const commentTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createComment",
    title: "Create comment",
    description:
      "Create a comment: add what an author says to an existing blog. Returns the comment with its _id.",
    ...CREATES,
    input: createCommentInput,
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

const PictureSchema = z.object({
  _id: z.string().describe("The _id of the picture"),
  blogId: z.string().describe("The _id of the blog"),
  url: z.string().describe("The web address of the picture"),
  caption: z.string().nullable().describe("The caption of the picture; null when it has none"),
  ...outputFields,
});

const createPictureInput = z.strictObject({
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
    input: createPictureInput,
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
