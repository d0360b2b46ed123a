/** The events of an executor. */
import {
  type EndedAttempt,
  type JournalEvent,
  type OutputLocation,
  type StartedAttempt,
  type TurnRecord,
  turnEvents,
} from "@planwright/engine";
import { isTerminalStepStatus, type JsonObject, JsonText, valueOfHeld } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import {
  keptError,
  type LargeValue,
  MAX_INLINE_BYTES,
  measureOutput,
  measureValue,
  previewOf,
  writeOutput,
} from "../journal/outputs.ts";
import type { OutputRef } from "../records/plan-document.ts";
import type { AttemptEnd, Intent, PlanClaim, UnitRecord } from "./claims.ts";

/** The events of calls that are about to be sent, after the ends of earlier calls of the same units. */
export function intentEvents(
  context: StoreDependencies,
  intents: readonly Intent[],
  ends: readonly AttemptEnd[],
): JournalEvent[] {
  const at = new Date(context.clock.now());
  const started = intents.map(({ call, large, ...intent }): StartedAttempt => {
    const kept = large
      ? { sizeBytes: large.sizeBytes, preview: previewOf(large).text }
      : keptArguments(call.arguments);
    return { call, ...intent, arguments: kept, at };
  });
  return turnEvents({ started, ended: toEnded(ends), records: [] });
}

/** The events of new states, and the sizes of the outputs in them by key. */
interface RecordEvents {
  events: JournalEvent[];
  sizes: Map<string, number>;
}

/**
 * The events of new states of units. They are returned at once, unless outputs that are too large for an
 * entry have to be stored separately first. So an intent of the same turn comes after the states that it
 * follows from.
 */
export function recordEvents(
  context: StoreDependencies,
  claim: PlanClaim,
  outcomes: Outcomes,
): RecordEvents | Promise<RecordEvents> {
  const { sizes, places, large } = measure(outcomes.records);
  const toRecordEvents = (): RecordEvents => ({ events: toEvents(claim, outcomes, places), sizes });
  if (large.length === 0) return toRecordEvents();
  const written = large.map(async ({ key, output, outputText }) => {
    const ref = await writeSeparately(context, claim, key, output);
    const isOwnText = typeof outputText === "string" ? ({ isOwnText: true } as const) : {};
    places.set(key, { ...ref, ...isOwnText });
  });
  return Promise.all(written).then(toRecordEvents);
}

/** The same; undefined when an output has to be stored separately first. Pure. */
export function recordEventsNow(claim: PlanClaim, outcomes: Outcomes): RecordEvents | undefined {
  const { sizes, places, large } = measure(outcomes.records);
  return large.length > 0 ? undefined : { events: toEvents(claim, outcomes, places), sizes };
}

/** New states of units, and the ends of the attempts that caused them. */
interface Outcomes {
  records: readonly UnitRecord[];
  ends: readonly AttemptEnd[];
}

interface LargeOutput extends Pick<UnitRecord, "key" | "outputText"> {
  output: LargeValue;
}

/** Sizes of outputs by key, and the outputs that are too large for an entry. */
function measure(records: readonly UnitRecord[]) {
  const sizes = new Map<string, number>();
  const places = new Map<string, OutputLocation>();
  const large: LargeOutput[] = [];
  for (const { key, status, output, outputText } of records) {
    if (output === undefined) continue;
    const isText = output instanceof JsonText && output.sizeBytes > MAX_INLINE_BYTES;
    const measured = isText ? largeValueOf(output) : measureOutput(valueOfHeld(output), outputText);
    if (status === "COMPLETED") sizes.set(key, measured.sizeBytes);
    if (measured.fits) places.set(key, measured.sizeBytes);
    else large.push({ key, outputText, output: measured });
  }
  return { sizes, places, large };
}

/** The text is stored as it is: that of the tool, if it is kept. */
function largeValueOf({ text, sizeBytes }: JsonText): LargeValue {
  return { fits: false, text, sizeBytes };
}

function toEvents(
  { journal }: PlanClaim,
  { records, ends }: Outcomes,
  places: ReadonlyMap<string, OutputLocation>,
): JournalEvent[] {
  const turn = { started: [], ended: toEnded(ends), records: records.map(toTurnRecord) };
  const isEnded = (key: string): boolean => isTerminalStepStatus(journal.unit(key)?.status ?? "PENDING");
  return turnEvents(turn, places, isEnded).map(withSizeForText);
}

/** The text of an output that is stored separately may still be in the entry: the size makes readers look. */
function withSizeForText(event: JournalEvent): JournalEvent {
  const isInEntry = event.type === "step.changed" && event.outputRef && event.outputText !== undefined;
  return isInEntry ? { ...event, outputBytes: 0 } : event;
}

function writeSeparately(
  context: StoreDependencies,
  { plan, epoch }: PlanClaim,
  key: string,
  output: LargeValue,
): Promise<OutputRef> {
  return writeOutput(context, { tenant: plan.tenant, planId: plan._id, key, epoch }, output);
}

function toTurnRecord({
  arguments: args,
  largeArguments: large,
  argsHash,
  approvalHash,
  error,
  ...record
}: UnitRecord): TurnRecord {
  const kept = large
    ? { sizeBytes: large.sizeBytes, preview: previewOf({ ...large, text: large.beginning }).text }
    : args && keptArguments(args);
  return {
    ...record,
    ...(error && { error: keptError(error) }),
    // What an operator sees of a unit that waits for approval.
    ...(kept && {
      toApprove: { arguments: kept, argsHash: argsHash ?? "", approvalHash: approvalHash ?? "" },
    }),
  };
}

/** Ends of attempts, one for each attempt: one call may have served several units. */
function toEnded(ends: readonly AttemptEnd[]): EndedAttempt[] {
  const byAttempt = new Map<string, EndedAttempt>();
  for (const { key, attemptId, endedAtMs, durationMs, outcome, error, isUnsent, effect } of ends) {
    const known = byAttempt.get(attemptId);
    if (known) known.units.push(key);
    else {
      byAttempt.set(attemptId, {
        units: [key],
        attemptId,
        outcome,
        error: error && keptError(error),
        at: new Date(endedAtMs),
        durationMs,
        ...(isUnsent && { isUnsent }),
        effect,
      });
    }
  }
  return [...byAttempt.values()];
}

/** Arguments as they are stored in an entry: complete, or the size and a preview of large ones. */
function keptArguments(args: JsonObject): StartedAttempt["arguments"] {
  const measured = measureValue(args);
  if (measured.fits) return { sizeBytes: measured.sizeBytes, value: args };
  return { sizeBytes: measured.sizeBytes, preview: previewOf(measured).text };
}
