import type { RequestRun } from "@planwright/client";
import { stateLook } from "@planwright/plan";
import { oneLine } from "../terminal/visible-text.ts";

/** What happens while a plan is being made; for a model that is away, since when and how long it is tried. */
export function planningText({
  waitReason,
  modelWait,
}: Pick<RequestRun, "waitReason" | "modelWait">): string {
  if (!modelWait || waitReason === "no worker")
    return stateLook("request", { status: "PLANNING", waitReason }).word;
  const { error, since, nextAttemptAt, until } = modelWait;
  const next = waitReason === null ? "tried again now" : `next try at ${nextAttemptAt}`;
  return `planning waits for the model, away since ${since}: ${oneLine(error.message, 160)} (${oneLine(error.code, 64)}); ${next}; given up at ${until}`;
}
