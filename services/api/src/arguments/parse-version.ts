import type { VersionOptions } from "@planwright/store";
import { BadInputError } from "../errors/input-errors.ts";
import { toIdempotency } from "./idempotency.ts";
import { parseStepId } from "./parse-ids.ts";

/** Arguments that prevent a second version for the same intention. */
export interface VersionInput {
  /** The version that the client has read. */
  fromVersion?: number | null;
  idempotencyKey?: string | null;
}

/** Most steps that one call may accept. */
const MAX_ACCEPTED = 100;

/**
 * @param payload - the operation and its other arguments, which must be the same for the same key
 * @throws {BadInputError}
 */
export function parseVersion(input: VersionInput, payload: readonly unknown[]): VersionOptions {
  const fromVersion = input.fromVersion ?? undefined;
  if (fromVersion !== undefined && fromVersion < 1) {
    throw new BadInputError(
      "fromVersion",
      `fromVersion is ${fromVersion}, and versions count from 1`,
      "Give the version of the request as it was read, or leave fromVersion out.",
    );
  }
  const idempotency = toIdempotency(input.idempotencyKey, [...payload, fromVersion ?? null]);
  return { fromVersion, idempotency };
}

/** The argument of mutations that may call steps again. */
export interface RepeatInput {
  /** Ids of steps that may be called again although a failed call of them acted or may have acted. */
  acceptRepeat?: readonly string[] | null;
}

/** @throws {BadInputError} */
export function parseAcceptRepeat({ acceptRepeat }: RepeatInput): string[] {
  const given = acceptRepeat ?? [];
  if (given.length <= MAX_ACCEPTED) return given.map(parseStepId);
  throw new BadInputError(
    "acceptRepeat",
    `acceptRepeat names ${given.length} steps, and at most ${MAX_ACCEPTED} are possible`,
    "Name the steps that the refusal lists.",
  );
}
