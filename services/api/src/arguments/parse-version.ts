import type { VersionWish } from "@planwright/store";
import { BadInputError } from "../errors/api-errors.ts";
import { toIdempotency } from "./idempotency.ts";

/** What keeps another version of a plan from being made twice. */
export interface VersionInput {
  /** The version that the client has looked at. */
  fromVersion?: number | null;
  idempotencyKey?: string | null;
}

/** @param payload - the operation with its other arguments, for which a key stands. @throws {BadInputError} */
export function parseVersion(input: VersionInput, payload: readonly unknown[]): VersionWish {
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
