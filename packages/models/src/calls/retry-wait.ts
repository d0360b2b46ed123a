import { retryDelay } from "@planwright/engine";
import type { DraftError, DraftErrorCode } from "../draft/draft-error.ts";
import { isModelError } from "../draft/model-error.ts";

const BACKOFF = { initialMs: 500, maxMs: 8_000, strategy: "exponential" } as const;

/** Failures that may pass within seconds: 429, 5xx, a lost connection, an answer cut in its body. */
const PASSING: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_RATE_LIMITED",
  "MODEL_UNREACHABLE",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * How long to wait before the same call is tried again, in milliseconds; null: not at all, because it would
 * fail again. Full jitter from 500 ms doubling to 8 s, and never shorter than what the provider asks for
 * (`Retry-After`).
 * @param attempt - tries already made, from 1
 * @param random - uniform in [0, 1)
 */
export function retryWaitMs(error: DraftError, attempt: number, random: number): number | null {
  if (!PASSING.has(error.code)) return null;
  const asked = isModelError(error, "MODEL_RATE_LIMITED", "MODEL_UNREACHABLE")
    ? error.facts.retryAfterMs
    : null;
  return retryDelay(BACKOFF, attempt, random, asked ?? 0);
}
