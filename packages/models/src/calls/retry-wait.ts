import { retryDelay } from "@planwright/engine";
import type { DraftError, DraftErrorCode } from "../draft/draft-error.ts";
import { isModelError } from "../draft/model-error.ts";

const BACKOFF = { initialMs: 500, maxMs: 8_000, strategy: "exponential" } as const;

/** Failures that may end within seconds: 429, 5xx, a lost connection, an answer cut in its body. */
const TEMPORARY: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_RATE_LIMITED",
  "MODEL_UNREACHABLE",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * The wait before the next try of a call, in milliseconds; null when it would fail again. Full jitter from
 * 500 ms doubling to 8 s, and at least the wait that the provider requests (`Retry-After`).
 * @param attempt - tries already made, from 1
 * @param random - uniform in [0, 1)
 */
export function retryWaitMs(error: DraftError, attempt: number, random: number): number | null {
  if (!TEMPORARY.has(error.code)) return null;
  const requestedMs = isModelError(error, "MODEL_RATE_LIMITED", "MODEL_UNREACHABLE")
    ? error.facts.retryAfterMs
    : null;
  return retryDelay(BACKOFF, attempt, random, requestedMs ?? 0);
}
