import { canonicalDigest } from "@planwright/plan";
import type { Idempotency } from "@planwright/store";
import { BadInputError } from "../errors/input-errors.ts";
import { isBlank, isWellFormed } from "./text.ts";

/** Longest key accepted, in UTF-16 units. */
const MAX_KEY_LENGTH = 256;

/**
 * An idempotency key with a hash of the operation and all of its arguments. The order of object keys does not
 * matter. Undefined without a key.
 * @throws {BadInputError} for a key that is blank, too long or not text
 */
export function toIdempotency(key: string | null | undefined, payload: unknown): Idempotency | undefined {
  if (key === undefined || key === null) return undefined;
  if (isBlank(key) || key.length > MAX_KEY_LENGTH || !isWellFormed(key)) {
    throw new BadInputError(
      "idempotencyKey",
      `The idempotencyKey has ${key.length} characters, is blank, or is not well-formed text`,
      `Give 1 to ${MAX_KEY_LENGTH} characters, such as a new UUID for each submission.`,
    );
  }
  return { key, payloadHash: canonicalDigest(payload) };
}
