import { type StepRun, unsentTries } from "@planwright/client";
import {
  countText,
  durationText,
  isCarried,
  numberText,
  ownTimeText,
  type StepStatus,
  stateLook,
  WAIT_WORDS,
} from "@planwright/plan";
import { oneLine, type Style } from "../terminal.ts";
import { between, markOf, problem, settledNote, stepName, unexpectedNote } from "./format.ts";

/** Options of a step's line. */
interface StepLineOptions {
  style: Style;
  /** Now, in milliseconds since 1970. */
  nowMs: number;
  /** Printed instead of the mark of a running step. */
  spinner?: string | undefined;
}

/** One step: mark, name, and its status in a few words. */
export function stepLine(
  step: StepRun,
  items: readonly StepRun[],
  { style, nowMs, spinner }: StepLineOptions,
): string {
  const { symbol, tone } = markOf("step", step);
  const mark = step.status === "RUNNING" && spinner !== undefined ? spinner : symbol;
  const notes = [...noteOf(step, nowMs), ...itemsNote(items)].join("  ");
  const name =
    step.status === "SKIPPED" || step.status === "PENDING" ? style("quiet", stepName(step)) : stepName(step);
  return `${style(tone, mark)} ${name}${notes === "" ? "" : `  ${style("quiet", notes)}`}`;
}

function noteOf(step: StepRun, nowMs: number): string[] {
  const { status } = step;
  if (Object.hasOwn(NOTES, status)) return NOTES[status as StepStatus](step, nowMs);
  return [wordsOf(step)];
}

const wordsOf = (step: StepRun) => oneLine(stateLook("step", step).word, MAX_MESSAGE);

/** The notes after the name of a step. */
const NOTES: Readonly<Record<StepStatus, (step: StepRun, nowMs: number) => string[]>> = {
  PENDING: (step) => (step.waitReason === null || SEEN_ELSEWHERE.has(step.waitReason) ? [] : [wordsOf(step)]),
  WAITING_APPROVAL: (step) => [
    `${wordsOf(step)}${step.expiresAt === null ? "" : `, which expires at ${step.expiresAt}`}`,
  ],
  RUNNING: ({ attempts, startedAt }, nowMs) => {
    if (attempts.at(-1)?.outcome === "unknown")
      return ["its executor was lost; it waits for the next one", ...repeated(attempts.length)];
    const since = between(attempts.at(-1)?.startedAt ?? startedAt, nowMs);
    return [...(since === null ? [] : [durationText(since)]), ...repeated(attempts.length)];
  },
  RETRYING: ({ attempts, error }) => [
    unsentTries(attempts.at(-1)) > 0
      ? "server unreachable, tried again"
      : `attempt ${attempts.length} failed, tried again`,
    ...(error ? [problem(error, MAX_MESSAGE)] : []),
  ],
  COMPLETED: (step) =>
    isCarried(step)
      ? ["carried over", ...settledNote(step)]
      : [
          ...took(step),
          ...repeated(step.attempts.length),
          ...settledNote(step),
          ...unexpectedNote(step.warnings, MAX_MESSAGE),
        ],
  FAILED: (step) => [
    ...took(step),
    ...effectNote(step),
    ...(step.error ? [problem(step.error, MAX_MESSAGE)] : [wordsOf(step)]),
  ],
  SKIPPED: (step) => [step.error ? oneLine(step.error.message, MAX_MESSAGE) : wordsOf(step)],
  IN_DOUBT: (step) =>
    step.settled === null
      ? [WAIT_WORDS["in doubt"]]
      : [...settledNote(step), "no executor has acted on it yet"],
  CANCELLED: (step) => [wordsOf(step)],
};

/** Of a failed step: whether its call acted. */
function effectNote({ effect }: StepRun): string[] {
  if (effect === "possible") return ["may have acted"];
  return effect === "done" ? ["acted"] : [];
}

const took = ({ durationMs, waitedForPeopleMs }: StepRun) =>
  durationMs === null ? [] : [ownTimeText(durationMs, waitedForPeopleMs)];

/** Most characters of an error's message, so that the tree stays readable. */
const MAX_MESSAGE = 80;
/** Wait reasons that the tree or the headline of the plan shows. */
const SEEN_ELSEWHERE: ReadonlySet<string> = new Set(["dependency", "paused", "no worker"]);

const repeated = (attempts: number) => (attempts > 1 ? [`attempt ${attempts}`] : []);

/** The progress of a forEach step. */
function itemsNote(items: readonly StepRun[]): string[] {
  if (items.length === 0) return [];
  const of = (status: string) => items.filter((item) => item.status === status).length;
  const failed = of("FAILED");
  const inDoubt = of("IN_DOUBT");
  const skipped = of("SKIPPED");
  return [
    `${numberText(of("COMPLETED"))} of ${countText(items.length, "item")}`,
    ...(failed > 0 ? [`${numberText(failed)} failed`] : []),
    ...(inDoubt > 0 ? [`${numberText(inDoubt)} in doubt`] : []),
    ...(skipped > 0 ? [`${numberText(skipped)} skipped`] : []),
  ];
}

/** The order in which a reader wants to see steps: the lowest first. */
const URGENCY: Readonly<Record<StepStatus, number>> = {
  FAILED: 0,
  IN_DOUBT: 1,
  WAITING_APPROVAL: 2,
  RETRYING: 3,
  RUNNING: 4,
  PENDING: 5,
  COMPLETED: 6,
  SKIPPED: 7,
  CANCELLED: 8,
};

/**
 * The rank of a step with this status, from 0, the most urgent. An unknown status comes last: the API may be
 * newer.
 */
export function urgencyOf(status: string): number {
  return Object.hasOwn(URGENCY, status) ? URGENCY[status as StepStatus] : Object.keys(URGENCY).length;
}

/** True for a step that failed, waits for a person, or runs: an operator wants to see it in full. */
export function isWorthSeeing(status: string): boolean {
  return urgencyOf(status) <= URGENCY.RUNNING;
}
