import { Refusal } from "@planwright/tool-kit";
import type { Collection, Document, Filter, MatchKeysAndValues, ObjectId } from "mongodb";
import type { StoredDocument } from "../database/documents.ts";
import { parseId } from "./fields.ts";

/** Names of document types in refusals. */
export type Thing = "author" | "blog" | "comment" | "picture";

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
