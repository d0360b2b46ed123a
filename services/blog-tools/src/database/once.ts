import { hash } from "node:crypto";
import { CallOpenError } from "@planwright/tool-kit";
import {
  type Collection,
  type Filter,
  MongoServerError,
  type OptionalUnlessRequiredId,
  type UpdateFilter,
} from "mongodb";
import type { StoredDocument } from "./documents.ts";

/** A call that creates something. */
export interface CreateCall {
  tool: string;
  arguments: object;
  /** Absent: each call creates something. */
  key: string | undefined;
}

/** The document that a call creates, with the answer prepared in advance. */
export interface NewDocument<T extends StoredDocument, Result extends object> {
  document: T;
  result: Result;
  /** Throws when the document must not be created. */
  check?: (() => Promise<unknown>) | undefined;
}

/**
 * Creates a document, at most once for each key, and returns the answer of the first call.
 *
 * The key and the answer are part of the document, under a unique index. So a crash at any point leaves both
 * or neither. Of concurrent calls with one key, one inserts and the others find its document. A repeat gets
 * the first answer even after the document was changed or deleted. A transaction is not needed; it would
 * block repeats for a minute after a crash.
 * @throws {CallOpenError} when the key belongs to a call with other arguments
 */
export async function createOnce<T extends StoredDocument, Result extends object>(
  collection: Collection<T>,
  call: CreateCall,
  { document, result, check }: NewDocument<T, Result>,
): Promise<Result> {
  const { key, tool } = call;
  if (key === undefined) {
    await check?.();
    await collection.insertOne(document as OptionalUnlessRequiredId<T>);
    return result;
  }
  const argumentsHash = hash("sha256", canonicalText(call.arguments));
  const creation = { key, argumentsHash, result, repeats: 0 };
  try {
    await check?.();
    await collection.insertOne({ ...document, creation } as OptionalUnlessRequiredId<T>);
    return result;
  } catch (error) {
    // Whatever prevents the insert (the key, or an email that the first call used), the first answer is
    // returned if there is one.
    const first = await findFirst(collection, key);
    if (first === undefined) throw error;
    if (first.argumentsHash !== argumentsHash)
      throw new CallOpenError(
        `The idempotency key was already used for another call of ${tool}, which may have acted`,
      );
    return first.result as Result;
  }
}

/**
 * The creation under this key, durable when it returns. The first insert may not be durable yet; waiting for
 * a later write waits for both.
 */
async function findFirst<T extends StoredDocument>(collection: Collection<T>, key: string) {
  const found = await collection.findOneAndUpdate(
    { "creation.key": key } as unknown as Filter<T>,
    { $inc: { "creation.repeats": 1 } } as unknown as UpdateFilter<T>,
    { returnDocument: "after" },
  );
  return found?.creation;
}

/** True for a violation of the unique index over this field. */
export function isDuplicateKey(error: unknown, field: string): error is MongoServerError {
  if (!(error instanceof MongoServerError) || error.code !== 11_000) return false;
  const pattern: unknown = error["keyPattern"];
  return typeof pattern === "object" && pattern !== null && Object.hasOwn(pattern, field);
}

/** Arguments are flat objects of texts and numbers; only the order of their names varies. */
function canonicalText(value: object): string {
  return JSON.stringify(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
