import type { RequestProgress } from "@planwright/client";
import { oneLine } from "../terminal/visible-text.ts";

/**
 * Why a plan waits, in words. "limit" for a plan that no executor holds is not the limit of a tool: executors
 * are alive, and one with a free slot will claim the plan.
 */
export function planWaitText({ status, waitReason }: { status: string; waitReason: string }): string {
  if (waitReason === "limit" && status !== "WAITING") return "waits to be claimed by an executor";
  return oneLine(waitReason, 40);
}

/** The same while a plan is being made; "planning" while a planner works on it. */
export function planningText({
  waitReason,
  modelWait,
}: Pick<RequestProgress, "waitReason" | "modelWait">): string {
  if (modelWait && waitReason !== "no worker") {
    const { error, since, nextAttemptAt, until } = modelWait;
    const next = waitReason === null ? "tried again now" : `next try at ${nextAttemptAt}`;
    return `planning waits for the model, away since ${since}: ${oneLine(error.message, 160)} (${oneLine(error.code, 64)}); ${next}; given up at ${until}`;
  }
  if (waitReason === null) return "planning";
  return waitReason === "limit"
    ? "planning waits to be claimed by a planner"
    : `planning waits: ${oneLine(waitReason, 40)}`;
}
