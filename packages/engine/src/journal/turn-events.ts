/** What an executor tells of one turn: the events of the next entry. */
import type { Call, StepError, StepRecord } from "../state/protocol.ts";
import { unitKeysOf } from "../state/units.ts";
import type { EventOf, JournalEvent } from "./events.ts";

/** A call that is about to be sent, or was, when it only reads. */
export interface StartedAttempt {
  call: Call;
  attemptId: string;
  argsHash: string;
  /** What is kept of its arguments. */
  arguments: EventOf<"attempt.started">["arguments"];
  at: Date;
}

/** How a call ended. */
export interface EndedAttempt {
  /** Keys of the units that it served, those of them that this turn tells of. */
  units: string[];
  attemptId: string;
  outcome: EventOf<"attempt.ended">["outcome"];
  error: StepError | null;
  at: Date;
  /** By a monotonic clock, in milliseconds. */
  durationMs: number;
  isUnsent?: boolean;
}

/** Where an output that is too large for an entry is stored; or its size, in bytes. */
export type OutputPlace = NonNullable<EventOf<"step.changed">["outputRef"]> | number;

/** A unit's new state; when it waits for an approval, with what is to be approved. */
export type TurnRecord = StepRecord & { toApprove?: EventOf<"step.changed">["toApprove"] };

/** One turn of a run. */
export interface RunTurn {
  /** Attempts whose ends are part of this turn come before them. */
  started: readonly StartedAttempt[];
  ended: readonly EndedAttempt[];
  records: readonly TurnRecord[];
}

/**
 * The events of a turn, in the order in which they are true: what was sent, how it ended, and the new states
 * of its units; then what is sent next because of that. Pure.
 * @param places - by key, where outputs are that are stored separately, and the sizes of the others
 */
export function turnEvents(
  { started, ended, records }: RunTurn,
  places: ReadonlyMap<string, OutputPlace> = new Map(),
): JournalEvent[] {
  const ends = new Set(ended.map(({ attemptId }) => attemptId));
  const hasEnded = ({ attemptId }: StartedAttempt): boolean => ends.has(attemptId);
  return [
    ...started.filter(hasEnded).map(toStarted),
    ...ended.map(toEnded),
    ...expansions(records),
    ...records
      .filter((record) => !isNewItem(record))
      .map((record) => toChanged(record, places.get(record.key))),
    ...started.filter((attempt) => !hasEnded(attempt)).map(toStarted),
  ];
}

function toStarted({
  call,
  attemptId,
  argsHash,
  arguments: kept,
  at,
}: StartedAttempt): EventOf<"attempt.started"> {
  return {
    type: "attempt.started",
    attemptId,
    attempt: call.attempt,
    stepId: call.stepId,
    units: unitKeysOf(call),
    tool: call.tool,
    effectClass: call.effectClass,
    mayAct: call.mayAct,
    ...(call.verify && { isLookup: true }),
    argsHash,
    arguments: kept,
    at,
  };
}

function toEnded({ isUnsent, error, ...ended }: EndedAttempt): EventOf<"attempt.ended"> {
  const told = error && toldError(error);
  return { type: "attempt.ended", ...ended, error: told, ...(isUnsent && { isUnsent: true as const }) };
}

/** An item that is there since its list was expanded, and nothing else. */
function isNewItem({ item, status, attempts, approved }: TurnRecord): boolean {
  return item !== undefined && status === "PENDING" && attempts === 0 && !approved;
}

function expansions(records: readonly TurnRecord[]): EventOf<"items.expanded">[] {
  const counts = new Map<string, number>();
  for (const record of records) {
    if (!isNewItem(record) || record.item === undefined) continue;
    counts.set(record.stepId, Math.max(counts.get(record.stepId) ?? 0, record.item + 1));
  }
  return [...counts].map(([stepId, count]) => ({ type: "items.expanded", stepId, count }));
}

/** Attempts, their number and those that sent nothing are told by their own events. */
function toChanged(record: TurnRecord, place: OutputPlace | undefined): EventOf<"step.changed"> {
  const { key, stepId, item, status, outputText, error, warnings, waitReason, nextAttemptAt } = record;
  const event: EventOf<"step.changed"> = { type: "step.changed", key, stepId, status };
  if (item !== undefined) event.item = item;
  const outputRef = typeof place === "object" ? place : undefined;
  if (outputRef) event.outputRef = outputRef;
  else if (record.output !== undefined) event.output = record.output;
  if (typeof place === "number") event.outputBytes = place;
  if (outputText !== undefined && !outputRef?.isOwnText) event.outputText = outputText;
  if (error) event.error = toldError(error);
  if (warnings && warnings.length > 0) event.warnings = warnings;
  if (waitReason) event.waitReason = waitReason;
  if (nextAttemptAt !== undefined) event.nextAttemptAt = new Date(nextAttemptAt);
  if (record.mayHaveActed) event.mayHaveActed = true;
  if (record.approved) event.approved = true;
  if (record.toApprove) event.toApprove = record.toApprove;
  return event;
}

/** An error as an event tells it, with the size of its data. Pure. */
export function toldError({ data, ...error }: StepError): NonNullable<EventOf<"step.changed">["error"]> {
  return data === undefined ? error : { ...error, data, dataBytes: Buffer.byteLength(JSON.stringify(data)) };
}
