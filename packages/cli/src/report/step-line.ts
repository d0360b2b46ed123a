import type { StepSnapshot } from "../api/request-snapshot.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { between, count, duration, problem, stepName } from "./format.ts";
import { settledNote } from "./settlement-text.ts";
import { markOf } from "./status-mark.ts";

/** How lines of steps are drawn. */
export interface StepLineOptions {
  style: Style;
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  /** Stands for the mark of what runs. */
  spinner?: string | undefined;
}

/** One step: mark, name, and what is to be known of its status in a few words. */
export function stepLine(
  step: StepSnapshot,
  items: readonly StepSnapshot[],
  { style, nowMs, spinner }: StepLineOptions,
): string {
  const { symbol, tone } = markOf(step.status);
  const mark = step.status === "RUNNING" && spinner !== undefined ? spinner : symbol;
  const notes = [...noteOf(step, nowMs), ...itemsNote(items)].join("  ");
  const name =
    step.status === "SKIPPED" || step.status === "PENDING" ? style("quiet", stepName(step)) : stepName(step);
  return `${style(tone, mark)} ${name}${notes === "" ? "" : `  ${style("quiet", notes)}`}`;
}

function noteOf(step: StepSnapshot, nowMs: number): string[] {
  const { attempts, error, waitReason, durationMs } = step;
  const took = durationMs === null ? [] : [duration(durationMs)];
  switch (step.status) {
    case "COMPLETED":
      return step.carriedFrom === null
        ? [...took, ...repeated(attempts.length), ...settledNote(step)]
        : ["carried over", ...settledNote(step)];
    case "RUNNING": {
      const since = between(attempts.at(-1)?.startedAt ?? step.startedAt, nowMs);
      return [...(since === null ? [] : [duration(since)]), ...repeated(attempts.length)];
    }
    case "RETRYING":
      return [
        attempts.at(-1)?.unsent
          ? "server away, tried again"
          : `attempt ${attempts.length} failed, tried again`,
        ...(error ? [problem(error, MAX_MESSAGE)] : []),
      ];
    case "FAILED":
      return [...took, ...(error ? [problem(error, MAX_MESSAGE)] : ["FAILED"])];
    case "SKIPPED":
      return [error ? oneLine(error.message, MAX_MESSAGE) : "skipped"];
    case "WAITING_APPROVAL":
      return ["waits for an approval"];
    case "IN_DOUBT":
      return step.settled === null
        ? ["in doubt: it is not known whether the call happened"]
        : [...settledNote(step), "no executor has acted on it yet"];
    case "PENDING":
      return waitReason === null || TOLD_ABOVE.has(waitReason) ? [] : [`waits: ${waitReason}`];
    default:
      return [step.status.toLowerCase().replaceAll("_", " ")];
  }
}

/** Characters of an error's message: the tree is to stay one. */
const MAX_MESSAGE = 80;
/** Seen in the tree, or said of the whole plan. */
const TOLD_ABOVE: ReadonlySet<string> = new Set(["dependency", "paused", "no worker"]);

const repeated = (attempts: number) => (attempts > 1 ? [`attempt ${attempts}`] : []);

/** How far a forEach is. */
function itemsNote(items: readonly StepSnapshot[]): string[] {
  if (items.length === 0) return [];
  const of = (status: string) => items.filter((item) => item.status === status).length;
  const failed = of("FAILED");
  const inDoubt = of("IN_DOUBT");
  return [
    `${of("COMPLETED")} of ${count(items.length, "item")}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(inDoubt > 0 ? [`${inDoubt} in doubt`] : []),
  ];
}
