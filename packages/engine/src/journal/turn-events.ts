/** Builds the events of the next entry from one turn of an executor. */
import { valueOfHeld } from "@planwright/plan";
import type { Effect } from "../state/effect.ts";
import type { Call, StepError, StepRecord } from "../state/protocol.ts";
import { itemKey, unitKeysOf } from "../state/units.ts";
import type { EventOf, JournalEvent } from "./events.ts";

/** A call that is about to be sent. A call without side effects may already be sent. */
export interface StartedAttempt {
  call: Call;
  attemptId: string;
  argsHash: string;
  /** Its idempotency key, when it is not `{planId}/{the only unit}`. */
  sentKey?: string | undefined;
  /** Its arguments, as they are stored. */
  arguments: EventOf<"attempt.started">["arguments"];
  at: Date;
}

/** How a call ended. */
export interface EndedAttempt {
  /** Keys of the units that it served and whose records are in this turn. */
  units: string[];
  attemptId: string;
  outcome: EventOf<"attempt.ended">["outcome"];
  error: StepError | null;
  at: Date;
  /** In milliseconds of a monotonic clock. */
  durationMs: number;
  /** The call was not sent: the server could not be reached. */
  isUnsent?: boolean | undefined;
  /** What is known about its effect; null for a call that cannot have one. Default: it follows from `outcome`. */
  effect?: Effect | null | undefined;
}

/**
 * The reference to an output that is too large for an entry; or the size of an output in the entry, in bytes.
 */
export type OutputLocation = NonNullable<EventOf<"step.changed">["outputRef"]> | number;

/** A unit's new state; with what to approve when the unit waits for approval. */
export type TurnRecord = StepRecord & { toApprove?: EventOf<"step.changed">["toApprove"] };

/** One turn of a run. */
export interface RunTurn {
  /** Started attempts; one that also ends in this turn gets its start event before its end event. */
  started: readonly StartedAttempt[];
  ended: readonly EndedAttempt[];
  records: readonly TurnRecord[];
}

/**
 * The events of a turn, in causal order: starts and ends of the calls that ended, the new states of units,
 * then starts of further calls. Pure.
 * @param places - by unit key: references to outputs that are stored separately, and sizes of other outputs
 * @param isEnded - true for the key of a unit that has ended by an entry before the turn. Default: none has
 */
export function turnEvents(
  { started, ended, records }: RunTurn,
  places: ReadonlyMap<string, OutputLocation> = new Map(),
  isEnded: (key: string) => boolean = () => false,
): JournalEvent[] {
  const ends = new Set(ended.map(({ attemptId }) => attemptId));
  const hasEnded = ({ attemptId }: StartedAttempt): boolean => ends.has(attemptId);
  return [
    ...started.filter(hasEnded).map(toStarted),
    ...ended.map(toEnded),
    ...expansions(records),
    ...toChanges(records, places, isEnded),
    ...started.filter((attempt) => !hasEnded(attempt)).map(toStarted),
  ];
}

function toStarted({
  call,
  attemptId,
  argsHash,
  sentKey,
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
    ...(call.mayAct && call.errors === "no-effect" && { errors: call.errors }),
    argsHash,
    ...(call.itemHashes && { itemHashes: [...call.itemHashes] }),
    ...(sentKey !== undefined && { sentKey }),
    arguments: kept,
    at,
  };
}

function toEnded({ isUnsent, error, effect, ...ended }: EndedAttempt): EventOf<"attempt.ended"> {
  const eventError = error && toEventError(error);
  return {
    type: "attempt.ended",
    ...ended,
    error: eventError,
    ...(isUnsent && { isUnsent: true as const }),
    ...(effect && { effect }),
  };
}

/** True for an item that was only created, by the expansion of its list. */
function isNewItem({ item, status, attempts, approved }: TurnRecord): boolean {
  return item !== undefined && status === "PENDING" && attempts === 0 && !approved;
}

/** An item that its list's condition excludes has ended when its list begins, and is one of its items. */
function expansions(records: readonly TurnRecord[]): EventOf<"items.expanded">[] {
  const begun = new Set(
    records.flatMap(({ stepId, item, status }) =>
      item === undefined && status === "RUNNING" ? [stepId] : [],
    ),
  );
  const counts = new Map<string, number>();
  for (const record of records) {
    if (record.item === undefined || (!isNewItem(record) && !begun.has(record.stepId))) continue;
    counts.set(record.stepId, Math.max(counts.get(record.stepId) ?? 0, record.item + 1));
  }
  return [...counts].map(([stepId, count]) => ({ type: "items.expanded", stepId, count }));
}

/** The new states, of which those of items that end together are one event. */
function toChanges(
  records: readonly TurnRecord[],
  places: ReadonlyMap<string, OutputLocation>,
  isEnded: (key: string) => boolean,
): JournalEvent[] {
  const changes: (EventOf<"step.changed"> | EventOf<"items.closed">)[] = [];
  for (const record of records) {
    if (isNewItem(record)) continue;
    const change = toChanged(record, places.get(record.key));
    const before = changes.at(-1);
    const joined = before && closedTogether(before, change, isEnded);
    if (joined) changes[changes.length - 1] = joined;
    else changes.push(change);
  }
  return changes;
}

/** The event that ends the items of both events; undefined when one event does not say all of it. */
function closedTogether(
  one: EventOf<"step.changed"> | EventOf<"items.closed">,
  other: EventOf<"step.changed">,
  isEnded: (key: string) => boolean,
): EventOf<"items.closed"> | undefined {
  if (one.stepId !== other.stepId || one.status !== other.status) return undefined;
  const [before, next] = [one.type === "items.closed" ? one : toClosed(one), toClosed(other)];
  if (!before || !next || before.to >= next.from || !isSameError(before.error, next.error)) return undefined;
  for (let item = before.to + 1; item < next.from; item++)
    if (!isEnded(itemKey(next.stepId, item))) return undefined;
  return { ...before, to: next.to };
}

/** The end of an item without an output, of which nothing else is to be said; undefined for any other change. */
function toClosed(change: EventOf<"step.changed">): EventOf<"items.closed"> | undefined {
  const { type: _, key: __, stepId, item, status, error, ...more } = change;
  if (item === undefined || (status !== "CANCELLED" && status !== "SKIPPED")) return undefined;
  if (Object.keys(more).length > 0 || error?.data !== undefined) return undefined;
  return { type: "items.closed", stepId, from: item, to: item, status, ...(error && { error }) };
}

function isSameError(
  one: EventOf<"items.closed">["error"],
  other: EventOf<"items.closed">["error"],
): boolean {
  return one?.code === other?.code && one?.message === other?.message && one?.retryable === other?.retryable;
}

/** Attempts have their own events, so they are not part of this one. */
function toChanged(record: TurnRecord, location: OutputLocation | undefined): EventOf<"step.changed"> {
  const { key, stepId, item, status, outputText, error, warnings, waitReason, nextAttemptAt } = record;
  const event: EventOf<"step.changed"> = { type: "step.changed", key, stepId, status };
  // Everything else is that of the earlier unit.
  if (record.carriedFrom) return { ...event, carriedFrom: record.carriedFrom };
  if (item !== undefined) event.item = item;
  const outputRef = typeof location === "object" ? location : undefined;
  if (outputRef) event.outputRef = outputRef;
  else if (record.output !== undefined) event.output = valueOfHeld(record.output);
  if (typeof location === "number") event.outputBytes = location;
  if (outputText !== undefined && !outputRef?.isOwnText) event.outputText = outputText;
  if (error) event.error = toEventError(error);
  if (warnings && warnings.length > 0) event.warnings = warnings;
  if (waitReason) event.waitReason = waitReason;
  if (nextAttemptAt !== undefined) event.nextAttemptAt = new Date(nextAttemptAt);
  if (record.expiresAt !== undefined) event.expiresAt = new Date(record.expiresAt);
  if (record.mayHaveActed) event.mayHaveActed = true;
  if (record.approved) event.approved = true;
  if (record.toApprove) event.toApprove = record.toApprove;
  return event;
}

/** The error in the form of an event, with the size of its data. Pure. */
export function toEventError({ data, ...error }: StepError): NonNullable<EventOf<"step.changed">["error"]> {
  return data === undefined ? error : { ...error, data, dataBytes: Buffer.byteLength(JSON.stringify(data)) };
}
