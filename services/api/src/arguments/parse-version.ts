import type { VersionOptions } from "@planwright/store";
import { BadInputError } from "../errors/input-errors.ts";
import { toIdempotency } from "./idempotency.ts";

/** Arguments that prevent a second version for the same intention. */
export interface VersionInput {
  /** The version that the client has read. */
  fromVersion?: number | null;
  idempotencyKey?: string | null;
}

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
