import { defineTool, Refusal, type Tool } from "@planwright/tool-kit";
import { ObjectId } from "mongodb";
import { z } from "zod";
import {
  CREATES,
  DELETES,
  DeletedSchema,
  deleteById,
  emailField,
  findPage,
  getById,
  idField,
  nameField,
  outputFields,
  pageInput,
  pageOutput,
  READS,
  UPDATES,
  updateById,
} from "./documents-by-id.ts";
import { type AuthorDocument, type BlogDatabase, createOnce, isDuplicateKey } from "./open-blog-database.ts";

const AuthorSchema = z.object({
  _id: z.string().describe("The _id of the author"),
  name: z.string().describe("The name of the author"),
  email: z.string().describe("The email address of the author"),
  ...outputFields,
});

const createInput = z.strictObject({
  name: nameField("The name of the author, such as Alice"),
  email: emailField("The email address of the author; no two authors may have the same"),
});

const updateInput = z.strictObject({
  authorId: idField("The _id of the author"),
  name: nameField("The new name of the author").optional(),
  email: emailField("The new email address of the author").optional(),
});

/** Tools over authors. */
export const authorTools = (database: BlogDatabase): Tool[] => [
  defineTool({
    name: "createAuthor",
    title: "Create author",
    description:
      "Create a new author with a name and an email address. Returns the author with its _id, which other tools take as authorId.",
    ...CREATES,
    input: createInput,
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
    input: updateInput,
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
