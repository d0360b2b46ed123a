import type { ClientSession, Collection, Document, Filter, MatchKeysAndValues, ObjectId } from "mongodb";
import { NotFoundError, NothingToUpdateError } from "../errors.ts";
import { parseId } from "./fields.ts";

/** What these functions need of a document. */
type Identified = Document & { _id: ObjectId; updatedAt: Date };

/** Names of things, as refusals spell them. */
export type Thing = "author" | "blog" | "comment" | "picture";

/** The document with this id. @throws {IdInvalidError | NotFoundError} */
export async function getById<T extends Identified>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
): Promise<T> {
  const _id = parseId(`${thing}Id`, id);
  const found = await collection.findOne({ _id } as Filter<T>);
  if (found === null) throw new NotFoundError(thing, id);
  return found as T;
}

/** Sets the fields that are given. @throws {IdInvalidError | NotFoundError | NothingToUpdateError} */
export async function updateById<T extends Identified>(
  collection: Collection<T>,
  thing: Thing,
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<T> {
  const _id = parseId(`${thing}Id`, id);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) throw new NothingToUpdateError(Object.keys(fields));
  const changes = { ...given, updatedAt: new Date() } as unknown as MatchKeysAndValues<T>;
  const updated = await collection.findOneAndUpdate(
    { _id } as Filter<T>,
    { $set: changes },
    { returnDocument: "after" },
  );
  if (updated === null) throw new NotFoundError(thing, id);
  return updated as T;
}

/** Deletes inside a transaction. @throws {NotFoundError} when it is not there */
export async function deleteById<T extends Identified>(
  collection: Collection<T>,
  thing: Thing,
  _id: ObjectId,
  session: ClientSession,
): Promise<void> {
  const { deletedCount } = await collection.deleteOne({ _id } as Filter<T>, { session });
  if (deletedCount === 0) throw new NotFoundError(thing, _id.toHexString());
}

/** Refuses when nothing has this id. @throws {NotFoundError} */
export async function requireById<T extends Identified>(
  collection: Collection<T>,
  thing: Thing,
  _id: ObjectId,
  session?: ClientSession,
): Promise<void> {
  const options = { projection: { _id: 1 }, ...(session ? { session } : {}) };
  const found = await collection.findOne({ _id } as Filter<T>, options);
  if (found === null) throw new NotFoundError(thing, _id.toHexString());
}
