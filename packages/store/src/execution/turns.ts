/** What an executor tells of its plan, as events. */
import {
  type EndedAttempt,
  type JournalEvent,
  type OutputPlace,
  type StartedAttempt,
  type TurnRecord,
  turnEvents,
} from "@planwright/engine";
import type { JsonObject } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { type LargeValue, measureOutput, measureValue } from "../outputs/inline-value.ts";
import { keptError } from "../outputs/kept-error.ts";
import { writeOutput } from "../outputs/output-store.ts";
import { previewOf } from "../outputs/preview.ts";
import type { OutputRef } from "../records/output-document.ts";
import type { AttemptEnd, Intent, PlanClaim, UnitRecord } from "./execution-store.ts";

/** The events of calls that are about to be sent, behind the ends of earlier ones of the same units. */
export function intentEvents(
  context: Pick<StoreDependencies, "clock">,
  intents: readonly Intent[],
  ends: readonly AttemptEnd[],
): JournalEvent[] {
  const at = new Date(context.clock.now());
  const started = intents.map(({ call, attemptId, argsHash }): StartedAttempt => {
    return { call, attemptId, argsHash, arguments: keptArguments(call.arguments), at };
  });
  return turnEvents({ started, ended: toEnded(ends), records: [] });
}

/** The events of new states, and the sizes of the outputs in them by key. */
export interface ToldRecords {
  events: JournalEvent[];
  sizes: Map<string, number>;
}

/**
 * New states of units as events: at once, unless there are outputs that are too large for an entry; those are
 * stored separately first. An intent of the same turn then comes after what it follows from.
 */
export function recordEvents(
  context: StoreDependencies,
  claim: PlanClaim,
  told: Told,
): ToldRecords | Promise<ToldRecords> {
  const { sizes, places, large } = measure(told.records);
  const toTold = (): ToldRecords => ({ events: toEvents(told, places), sizes });
  if (large.length === 0) return toTold();
  const written = large.map(async ({ key, output, outputText }) => {
    const ref = await writeAside(context, claim, key, output);
    const isOwnText = typeof outputText === "string" ? ({ isOwnText: true } as const) : {};
    places.set(key, { ...ref, ...isOwnText });
  });
  return Promise.all(written).then(toTold);
}

/** The same, and undefined where an output has to be stored separately first. Pure. */
export function recordEventsNow(told: Told): ToldRecords | undefined {
  const { sizes, places, large } = measure(told.records);
  return large.length > 0 ? undefined : { events: toEvents(told, places), sizes };
}

/** New states, and how the attempts ended that they follow from. */
interface Told {
  records: readonly UnitRecord[];
  ends: readonly AttemptEnd[];
}

interface LargeOutput extends Pick<UnitRecord, "key" | "outputText"> {
  output: LargeValue;
}

/** Sizes of outputs by key, and which of them an entry has no room for. */
function measure(records: readonly UnitRecord[]) {
  const sizes = new Map<string, number>();
  const places = new Map<string, OutputPlace>();
  const large: LargeOutput[] = [];
  for (const { key, status, output, outputText } of records) {
    if (output === undefined) continue;
    const measured = measureOutput(output, outputText);
    if (status === "COMPLETED") sizes.set(key, measured.sizeBytes);
    if (measured.fits) places.set(key, measured.sizeBytes);
    else large.push({ key, outputText, output: measured });
  }
  return { sizes, places, large };
}

function toEvents({ records, ends }: Told, places: ReadonlyMap<string, OutputPlace>): JournalEvent[] {
  const told = { started: [], ended: toEnded(ends), records: records.map(toTurnRecord) };
  return turnEvents(told, places).map(withPlaceOfText);
}

/**
 * Of an output that is stored separately only the tool's own text may be in the entry: a size tells readers
 * to look for it there.
 */
function withPlaceOfText(event: JournalEvent): JournalEvent {
  const isInEntry = event.type === "step.changed" && event.outputRef && event.outputText !== undefined;
  return isInEntry ? { ...event, outputBytes: 0 } : event;
}

function writeAside(
  context: StoreDependencies,
  { plan, epoch }: PlanClaim,
  key: string,
  output: LargeValue,
): Promise<OutputRef> {
  return writeOutput(context, { tenant: plan.tenant, planId: plan._id, key, epoch }, output);
}

function toTurnRecord({ arguments: args, argsHash, approvalHash, error, ...record }: UnitRecord): TurnRecord {
  return {
    ...record,
    ...(error && { error: keptError(error) }),
    // What an operator is shown, of a unit that waits for approval.
    ...(args && {
      toApprove: {
        arguments: keptArguments(args),
        argsHash: argsHash ?? "",
        approvalHash: approvalHash ?? "",
      },
    }),
  };
}

/** How attempts ended: one call may have served several of the units. */
function toEnded(ends: readonly AttemptEnd[]): EndedAttempt[] {
  const byAttempt = new Map<string, EndedAttempt>();
  for (const { key, attemptId, endedAtMs, durationMs, outcome, error, isUnsent } of ends) {
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
      });
    }
  }
  return [...byAttempt.values()];
}

/** Arguments as an entry holds them: themselves, or what is kept of large ones. */
function keptArguments(args: JsonObject): StartedAttempt["arguments"] {
  const measured = measureValue(args);
  if (measured.fits) return { sizeBytes: measured.sizeBytes, value: args };
  return { sizeBytes: measured.sizeBytes, preview: previewOf(measured).text };
}
