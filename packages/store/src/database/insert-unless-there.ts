import type { Collection } from "mongodb";
import { isDuplicateKey } from "./transient-errors.ts";

/** Stores a document, unless it is there already. */
export async function insertUnlessThere<Stored extends { _id: string }>(
  collection: Pick<Collection<Stored>, "insertOne">,
  document: Stored,
): Promise<void> {
  try {
    await collection.insertOne(document as never);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}
