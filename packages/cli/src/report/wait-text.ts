import { oneLine } from "../terminal/visible-text.ts";

/**
 * Why a plan waits, in words. "limit" for a plan that no executor holds is not the limit of a tool: executors
 * are alive, and one with a free slot will claim the plan.
 */
export function planWaitText({ status, waitReason }: { status: string; waitReason: string }): string {
  if (waitReason === "limit" && status !== "WAITING") return "waits to be claimed by an executor";
  return oneLine(waitReason, 40);
}

/** The same while a plan is being made. */
export function planningWaitText(waitReason: string): string {
  return waitReason === "limit"
    ? "planning waits to be claimed by a planner"
    : `planning waits: ${oneLine(waitReason, 40)}`;
}
