import {
  CursorInvalidError,
  EntryTooLargeError,
  IdempotencyKeyReusedError,
  TooManyControlsError,
} from "@planwright/store";
import { ApiError } from "./api-error.ts";
import { BadInputError, KeyReusedError } from "./input-errors.ts";
import { OverloadedError } from "./service-errors.ts";

/** The executor of a plan takes its controls four times a second. */
const CONTROLS_RETRY_AFTER_MS = 1_000;

/** The error for clients, if their call caused it; undefined for an unexpected error. Pure. */
export function knownError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof CursorInvalidError) {
    return new BadInputError("after", error.message, "Use pageInfo.endCursor of the page before.");
  }
  if (error instanceof EntryTooLargeError) {
    const message = "The plan has too many items to carry over: another version of it cannot be stored";
    return new BadInputError("requestId", message, "Submit the remaining steps as a new plan.");
  }
  if (error instanceof TooManyControlsError)
    return new OverloadedError(error.message, CONTROLS_RETRY_AFTER_MS);
  return error instanceof IdempotencyKeyReusedError ? new KeyReusedError(error.facts.requestId) : undefined;
}
