import type { Outcome } from "@planwright/engine";
import type { ToolCall } from "@planwright/tools";
import type { Random } from "../../random/random.ts";
import { LOOKUP_TOOL, SETTLE_MS } from "./catalogue.ts";
import type { ToolSettings } from "./settings.ts";

/** How a call ends; drawn when the call is sent. */
export interface CallFate {
  /** Milliseconds until the call reaches the tool; undefined: it never does. */
  arrivesIn: number | undefined;
  endsIn: number;
  /** The outcome for the caller; undefined: the answer of the tool. */
  outcome: Outcome | undefined;
}

type FailedOutcome = Extract<Outcome, { type: "failed" }>;

/** The outcome of a failed call, as the tool clients report it. */
export function failed(
  code: string,
  effect: "none" | "reported" | "unknown",
  retryable: boolean,
): FailedOutcome {
  return { type: "failed", effect, error: { code, message: `simulated ${code}`, retryable } };
}

/** The tool receives the call and refuses it. */
export function refusal(endsIn: number): CallFate {
  return { arrivesIn: undefined, endsIn, outcome: failed("TOOL_FAILED", "reported", false) };
}

/** Draws the fate of a call. @param now - simulated milliseconds */
export function drawCallFate(call: ToolCall, tools: ToolSettings, random: Random, now: number): CallFate {
  const arrivesIn = random.whole(1, random.chance(0.9) ? 5 : SETTLE_MS);
  const endsIn = arrivesIn + random.whole(1, tools.maxLatencyMs);
  const arrives = random.chance(0.5);
  const drawn = random.next();
  let upTo = 0;
  const isDrawn = (rate: number): boolean => {
    upTo += rate;
    return drawn < upTo;
  };
  const refused = (outcome: Outcome): CallFate => ({ arrivesIn: undefined, endsIn: 3, outcome });
  const silent = (outcome: Outcome, ends: number): CallFate => ({
    arrivesIn: arrives ? arrivesIn : undefined,
    endsIn: ends,
    outcome,
  });
  const timedOut = failed("TOOL_TIMEOUT", "unknown", true);

  if (now >= tools.awayFromMs && now < tools.awayFromMs + tools.awayForMs) {
    return refused(failed("TOOL_UNREACHABLE", "none", true));
  }
  if (call.tool === LOOKUP_TOOL) {
    return { arrivesIn, endsIn, outcome: isDrawn(tools.lookupSilent) ? timedOut : undefined };
  }
  if (isDrawn(tools.refused)) return refused(failed("TOOL_UNREACHABLE", "none", true));
  if (isDrawn(tools.unauthorized)) return refused(failed("TOOL_UNAUTHORIZED", "none", false));
  if (isDrawn(tools.rateLimited)) {
    const retryAfterMs = random.whole(1, 8_000);
    return refused({ ...failed("TOOL_RATE_LIMITED", "none", true), retryAfterMs });
  }
  if (isDrawn(tools.reported)) return refusal(endsIn);
  // The connection may be lost before the call has arrived; the call still reaches the tool.
  if (isDrawn(tools.lost))
    return silent(failed("TOOL_CONNECTION_LOST", "unknown", true), random.whole(1, endsIn));
  if (isDrawn(tools.hanging)) return silent(timedOut, call.timeoutMs);
  if (isDrawn(tools.failedAfterEffect))
    return { arrivesIn, endsIn, outcome: failed("TOOL_FAILED", "reported", false) };
  if (endsIn > call.timeoutMs) return { arrivesIn, endsIn: call.timeoutMs, outcome: timedOut };
  return { arrivesIn, endsIn, outcome: undefined };
}
