import type { DraftError, DraftErrorCode } from "../draft/draft-error.ts";
import { isModelError } from "../draft/model-error.ts";

/** Bounds of the wait before the second try, and of any, in milliseconds. */
const INITIAL_MS = 500;
const MAX_MS = 8_000;

/** Failures that may be gone a moment later: 429, 5xx, a lost connection, an answer cut in its body. */
const PASSING: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_RATE_LIMITED",
  "MODEL_UNREACHABLE",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * How long to wait before the same call is tried again, in milliseconds; null: not at all, because it would fail again. Full jitter
 * from 500 ms doubling to 8 s; where the provider says how long (`Retry-After`), exactly that.
 * @param attempt - tries already made, from 1
 * @param random - uniform in [0, 1)
 */
export function retryWaitMs(error: DraftError, attempt: number, random: number): number | null {
  if (!PASSING.has(error.code)) return null;
  const asked = isModelError(error, "MODEL_RATE_LIMITED", "MODEL_UNREACHABLE")
    ? error.facts.retryAfterMs
    : null;
  return asked ?? random * Math.min(MAX_MS, INITIAL_MS * 2 ** (attempt - 1));
}
