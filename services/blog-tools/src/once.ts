import { createHash } from "node:crypto";
import { type ClientSession, MongoServerError } from "mongodb";
import type { BlogDatabase } from "./database.ts";
import { KeyInvalidError, KeyReusedError } from "./errors.ts";

/** Where callers put the idempotency key: in the `_meta` of the call. */
export const IDEMPOTENCY_KEY_META = "dev.planwright/idempotencyKey";

/** A change of data, made ready so that its answer is known before it is made. */
export interface Change<Result extends object> {
  /** What the call answers when the change is made. */
  result: Result;
  /** Makes the change inside the transaction; throws when it must not be made. */
  apply(session: ClientSession): Promise<unknown>;
}

/** Who asks for a change. */
export interface ChangeCall {
  tool: string;
  arguments: object;
  /** Absent: the change is made each time it is asked for. */
  key: string | undefined;
}

/** The idempotency key of a call, from its `_meta`. @throws {KeyInvalidError} */
export function idempotencyKeyOf(meta: Record<string, unknown> | undefined): string | undefined {
  const key = meta?.[IDEMPOTENCY_KEY_META];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || key.length === 0 || key.length > 512) throw new KeyInvalidError();
  return key;
}

/**
 * Makes a change, at most once for each key.
 *
 * The record of the key, with the answer, is written in the transaction that makes the change. So a crash at any point
 * leaves both or neither, of concurrent calls with one key one commits and the others find its record, and a repeat gets
 * the first answer even after the thing was changed or deleted.
 * @throws {KeyReusedError} when the key belongs to another call
 */
export async function changeOnce<Result extends object>(
  database: BlogDatabase,
  call: ChangeCall,
  prepare: () => Change<Result>,
): Promise<Result> {
  const { key, tool } = call;
  const change = prepare();
  if (key === undefined) {
    await database.transaction((session) => change.apply(session));
    return change.result;
  }
  const argumentsHash = createHash("sha256").update(canonicalText(call.arguments)).digest("hex");
  try {
    await database.transaction(async (session) => {
      const result = Object.fromEntries(Object.entries(change.result));
      const createdAt = new Date();
      await database.effects.insertOne({ _id: key, tool, argumentsHash, result, createdAt }, { session });
      await change.apply(session);
    });
    return change.result;
  } catch (error) {
    if (!isDuplicateKey(error, "_id")) throw error;
    const first = await database.effects.findOne({ _id: key });
    if (first === null) throw error;
    if (first.tool !== tool || first.argumentsHash !== argumentsHash) throw new KeyReusedError(first.tool);
    return first.result as Result;
  }
}

/** True for a violation of the unique index over this field. */
export function isDuplicateKey(error: unknown, field: string): error is MongoServerError {
  if (!(error instanceof MongoServerError) || error.code !== 11_000) return false;
  const pattern: unknown = error["keyPattern"];
  return typeof pattern === "object" && pattern !== null && Object.hasOwn(pattern, field);
}

/** Arguments are flat objects of texts and numbers; only the order of their names is free. */
function canonicalText(value: object): string {
  return JSON.stringify(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
