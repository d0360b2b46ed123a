import { Refusal, type ToolDefinition } from "@planwright/tool-kit";
import { type Collection, type Document, type Filter, type MatchKeysAndValues, ObjectId } from "mongodb";
import { z } from "zod";
import type { StoredDocument } from "./open-blog-database.ts";

/** Names of document types in refusals. */
type Thing = "author" | "blog" | "comment" | "picture";

/** Matches documents that are not deleted. */
export const ALIVE = { deletion: { $exists: false } } as const;

/** The document with this id. @throws {Refusal} */
export async function getById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
): Promise<T> {
  const _id = parseId(`${thing}Id`, id);
  const found = await collection.findOne({ _id, ...ALIVE } as unknown as Filter<T>);
  if (found === null) throw notFound(thing, id);
  return found as T;
}

/** Sets the fields that are given. @throws {Refusal} */
export async function updateById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<T> {
  const _id = parseId(`${thing}Id`, id);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0)
    throw new Refusal(`Give at least one of ${Object.keys(fields).join(", ")}`);
  const changes = { ...given, updatedAt: new Date() } as unknown as MatchKeysAndValues<T>;
  const updated = await collection.findOneAndUpdate(
    { _id, ...ALIVE } as unknown as Filter<T>,
    { $set: changes },
    { returnDocument: "after" },
  );
  if (updated === null) throw notFound(thing, id);
  return updated as T;
}

/**
 * Deletes a document; a repeat with the same key finds it deleted. The rest of the document holds no data,
 * only the answers to repeats.
 * @throws {Refusal}
 */
export async function deleteById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
  key: string | undefined,
): Promise<{ _id: string; deleted: true }> {
  const _id = parseId(`${thing}Id`, id);
  const { modifiedCount } = await collection.updateOne(
    { _id, ...ALIVE } as unknown as Filter<T>,
    toDeleted(key ?? null),
  );
  if (modifiedCount === 0) {
    const repeated =
      key === undefined
        ? null
        : await collection.findOne({ _id, "deletion.key": key } as unknown as Filter<T>);
    if (repeated === null) throw notFound(thing, _id.toHexString());
  }
  return { _id: _id.toHexString(), deleted: true };
}

/** Deletes all matching documents. */
export async function deleteAll<T extends StoredDocument>(
  collection: Collection<T>,
  filter: Document,
): Promise<void> {
  await collection.updateMany({ ...filter, ...ALIVE } as unknown as Filter<T>, toDeleted(null));
}

function toDeleted(key: string | null): Document[] {
  const deletion = { key, at: new Date() };
  return [{ $replaceWith: { _id: "$_id", creation: "$creation", deletion: { $literal: deletion } } }];
}

/** Throws when no document has this id. @throws {Refusal} */
export async function requireById<T extends StoredDocument>(
  collection: Collection<T>,
  thing: Thing,
  _id: ObjectId,
): Promise<void> {
  const found = await collection.findOne({ _id, ...ALIVE } as unknown as Filter<T>, {
    projection: { _id: 1 },
  });
  if (found === null) throw notFound(thing, _id.toHexString());
}

function notFound(thing: Thing, id: string): Refusal {
  return new Refusal(`There is no ${thing} with the _id ${id}`);
}

/** Arguments of a list tool. */
export const pageInput = {
  limit: z.number().int().min(1).max(100).default(20).describe("How many to return at most, 1 to 100"),
  cursor: z
    .string()
    .max(100)
    .optional()
    .describe("The nextCursor of the page before; omit it for the first page"),
};

/** Fields of a list's output, beside the list itself. */
export const pageOutput = {
  count: z.number().int().describe("How many are in this page"),
  nextCursor: z.string().nullable().describe("Pass it as cursor to get the next page; null on the last page"),
};

/** One page, oldest first. @throws {Refusal} */
export async function findPage<T extends Document & { _id: ObjectId }>(
  collection: Collection<T>,
  filter: Document,
  page: { limit: number; cursor?: string | undefined },
): Promise<{ items: T[]; count: number; nextCursor: string | null }> {
  const after = page.cursor === undefined ? {} : { _id: { $gt: parseCursor(page.cursor) } };
  const found = await collection
    .find({ ...filter, ...after, ...ALIVE } as unknown as Filter<T>)
    .sort({ _id: 1 })
    .limit(page.limit + 1)
    .toArray();
  const items = found.slice(0, page.limit) as T[];
  const last = found.length > page.limit ? items.at(-1) : undefined;
  return { items, count: items.length, nextCursor: last === undefined ? null : last._id.toHexString() };
}

function parseCursor(cursor: string): ObjectId {
  if (!/^[0-9a-f]{24}$/.test(cursor)) throw new Refusal("The cursor is not one that this list gave");
  return ObjectId.createFromHexString(cursor);
}

/** Longest name and title, in characters. */
const MAX_NAME = 200;
/** Longest text of a blog or a comment, in characters. */
const MAX_CONTENT = 100_000;

/**
 * An argument that contains an id. Its form is checked by {@link parseId}, so that the refusal is a clear
 * text.
 */
export function idField(description: string) {
  return z.string().min(1).max(200).describe(description);
}

/** A required text of one line. */
export function nameField(description: string) {
  return z.string().min(1).max(MAX_NAME).regex(/\S/, "must not be blank").describe(description);
}

/** A required text of any length up to {@link MAX_CONTENT}. */
export function contentField(description: string) {
  return z.string().min(1).max(MAX_CONTENT).regex(/\S/, "must not be blank").describe(description);
}

/**
 * An email address. The pattern is deliberately loose: only sending a message shows whether an address works.
 */
export function emailField(description: string) {
  return z
    .string()
    .max(320)
    .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "must be an email address such as alice@example.com")
    .meta({ description, format: "email" });
}

/** An address of the web. */
export function urlField(description: string) {
  return z
    .string()
    .max(2_048)
    .regex(/^https?:\/\/[^\s/]+\S*$/, "must start with http:// or https://")
    .meta({ description, format: "uri" });
}

/** Fields that every output has. */
export const outputFields = {
  createdAt: z.string().describe("When it was created, ISO 8601"),
  updatedAt: z.string().describe("When it was last changed, ISO 8601"),
};

/** Output of a delete tool. */
export const DeletedSchema = z.object({
  _id: z.string().describe("The _id of what was deleted"),
  deleted: z.literal(true),
});

/** The id in an argument. @throws {Refusal} */
export function parseId(field: string, value: string): ObjectId {
  if (!/^[0-9a-fA-F]{24}$/.test(value)) {
    const shown = value.length > 60 ? `${value.slice(0, 60)}...` : value;
    throw new Refusal(`${field} "${shown}" is not a valid id: ids have 24 hexadecimal characters`);
  }
  return ObjectId.createFromHexString(value);
}

type Promises = Pick<ToolDefinition<z.ZodObject, z.ZodObject>, "annotations" | "contract">;

/** Contract of tools that create something new, once for each idempotency key. */
export const CREATES = {
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
export const READS = {
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
export const UPDATES = {
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
export const DELETES = {
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    error_propagation: "fail-fast",
  },
} satisfies Promises;
