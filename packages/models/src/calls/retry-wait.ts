import { retryDelay } from "@planwright/engine";
import type { DraftError, DraftErrorCode } from "../draft/draft-error.ts";
import { BothModelsFailedError, isModelError } from "../draft/model-error.ts";

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
  return TEMPORARY.has(error.code) ? retryDelay(BACKOFF, attempt, random, requestedMsOf(error)) : null;
}

/** The wait that the provider requests, in milliseconds; 0 without a request. */
function requestedMsOf(error: DraftError): number {
  const hasRequest = isModelError(error, "MODEL_RATE_LIMITED", "MODEL_UNREACHABLE");
  return hasRequest ? (error.facts.retryAfterMs ?? 0) : 0;
}

/**
 * For a call whose model, or its fallback, is away: the wait that the provider requests, in milliseconds (0
 * without a request). Null for any other failure, which a wait does not cure. A model that gave no answer at
 * all in its time is away; one that began to answer is only slow, and would cost the same again.
 */
export function awayForMs(error: DraftError): number | null {
  const all = error instanceof BothModelsFailedError ? error.errors : [error];
  const waits = all.filter(isAway).map(requestedMsOf);
  return waits.length > 0 ? Math.min(...waits) : null;
}

function isAway(error: DraftError): boolean {
  if (isModelError(error, "MODEL_TIMEOUT")) return (error.partial?.text ?? "") === "";
  return isModelError(error, "MODEL_UNREACHABLE", "MODEL_RATE_LIMITED");
}

const LONGEST_PAUSE_MS = 30_000;

/**
 * The pause before a model that is away is called again, in milliseconds: a random one of 1 to 2 s, doubling to
 * 15 to 30 s.
 * @param tries - pauses in a row, this one included, from 1
 * @param random - uniform in [0, 1)
 */
export function modelPauseMs(tries: number, random: number): number {
  const bound = Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** tries);
  return Math.floor((bound * (1 + random)) / 2);
}
