import { DraftError, type PartialDraft } from "./draft-error.ts";
import {
  ModelAnswerUnreadableError,
  ModelNotFoundError,
  ModelRateLimitedError,
  ModelRequestInvalidError,
  ModelTimeoutError,
  ModelUnauthorizedError,
  ModelUnreachableError,
} from "./model-errors.ts";

interface Call {
  model: string;
  timeoutMs: number;
  /** True when our own time limit ended the call. */
  isOverdue: boolean;
  partial: PartialDraft;
}

/** What a provider's library threw, as one of our errors. Decided by HTTP status and error name, never by message. */
export function toModelError(error: unknown, { model, timeoutMs, isOverdue, partial }: Call): DraftError {
  if (error instanceof DraftError) return error;
  const options = { cause: error, partial };
  const status = statusOf(error);
  if (isOverdue || namesOf(error).some((name) => name.includes("Timeout"))) {
    return new ModelTimeoutError({ model, timeoutMs }, options);
  }
  if (status === 401 || status === 403) return new ModelUnauthorizedError({ model, status }, options);
  if (status === 404) return new ModelNotFoundError({ model }, options);
  if (status === 408) return new ModelTimeoutError({ model, timeoutMs }, options);
  if (status === 429 || status === 529) {
    return new ModelRateLimitedError({ model, retryAfterMs: retryAfterOf(error) }, options);
  }
  if (status !== null && status >= 400 && status < 500)
    return new ModelRequestInvalidError({ model, status }, options);
  if (error instanceof SyntaxError) {
    return new ModelAnswerUnreadableError({ model, reason: "the stream was not valid JSON" }, options);
  }
  return new ModelUnreachableError({ model, status }, options);
}

/** True when a server without structured output refused the request for it. */
export function isStructuredOutputRefused(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== 400 && status !== 422) return false;
  return /response_format|json_schema/i.test(error instanceof Error ? error.message.slice(0, 2_000) : "");
}

function statusOf(error: unknown): number | null {
  const status = fieldOf(error, "status");
  return typeof status === "number" ? status : null;
}

/** Names of an error's class and of its causes. */
function namesOf(error: unknown): string[] {
  const names: string[] = [];
  for (let each = error; each instanceof Error && names.length < 10; each = each.cause) {
    names.push(each.name, each.constructor.name);
  }
  return names;
}

/** `Retry-After` in milliseconds: seconds as providers send them, at most one hour. */
function retryAfterOf(error: unknown): number | null {
  const headers = fieldOf(error, "headers");
  const value = headers instanceof Headers ? headers.get("retry-after") : fieldOf(headers, "retry-after");
  const seconds = typeof value === "string" ? Number(value) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3_600) * 1_000 : null;
}

function fieldOf(holder: unknown, key: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
}
