import { type Need, pendingText, type RequestRun } from "@planwright/client";
import { countText, ownTimeText, waitWords } from "@planwright/plan";
import { problem, stepName, unexpectedNote } from "./format.ts";
import { type ProgressEvent, progressEvents } from "./progress-events.ts";
import { settledNote } from "./settlement-text.ts";
import { planningText } from "./wait-text.ts";

/** The changes between two readings as plain lines for logs and pipes. Pure. */
export function progressLines(before: RequestRun | null, now: RequestRun): string[] {
  return progressEvents(before, now).flatMap(lineOf);
}

const NEEDED: Readonly<Record<Need, string>> = {
  input: "the planner has questions",
  start: "the plan is stored and not started",
  approval: "a call waits for an approval",
  doubt: "it is not known whether a call happened",
  resume: "the plan is paused",
};

function lineOf(event: ProgressEvent): string[] {
  switch (event.event) {
    case "accepted":
      return [`${event.requestId} accepted`];
    case "planning":
      return [planningText(event)];
    case "planned": {
      const by = event.origin.model ?? event.origin.kind;
      const version = event.version > 1 ? `, version ${event.version}` : "";
      return [`${event.planId} planned: ${countText(event.steps.length, "step")}, ${by}${version}`];
    }
    case "plan":
      return [`plan ${event.status}${waiting(event)}`];
    case "control":
      return [`plan ${pendingText(event)}`];
    case "step":
      return [stepText(event)];
    case "answering":
      return ["a model is describing the results in words"];
    case "needed":
      return [`waits for a person: ${NEEDED[event.need]}`];
  }
}

function waiting({ status, waitReason }: { status: string; waitReason: string | null }): string {
  return waitReason === null ? "" : ` (${waitWords("plan", { status, waitReason })})`;
}

function stepText({
  status,
  attempt,
  durationMs,
  waitedForPeopleMs,
  error,
  settled,
  warnings,
  ...step
}: Extract<ProgressEvent, { event: "step" }>) {
  const took =
    durationMs === null || status === "RUNNING" ? "" : ` ${ownTimeText(durationMs, waitedForPeopleMs)}`;
  const repeated = attempt > 1 ? ` attempt ${attempt}` : "";
  const notes = status === "COMPLETED" ? [...settledNote({ settled }), ...unexpectedNote(warnings, 200)] : [];
  const why =
    error && status !== "COMPLETED" ? `: ${problem(error)}` : notes.map((text) => `: ${text}`).join("");
  return `  ${stepName(step)} ${status}${repeated}${took}${why}`;
}
