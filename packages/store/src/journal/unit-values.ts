/** The values that heads of units leave out. Only the entries that have them are read. */
import {
  type FoldedAttempt,
  type FoldedUnit,
  type JournalEvent,
  type PlanState,
  type StepRun,
  stepRuns,
} from "@planwright/engine";
import type { WantedValues } from "../records/document-heads.ts";
import { type EntryLog, type EntryPosition, entryIdOf, type SelectedEvents } from "./entry-log.ts";

/** The part of a unit that has values or names the entries with them. */
type Unit = Omit<FoldedUnit, "item" | "tool">;

/** A unit and its request. */
interface UnitOfRequest<Of extends Unit> {
  requestId: string;
  unit: Of;
}

/** Units with their values, in the same order: one read for any number of units. */
export async function withValues<Of extends Unit>(
  log: Pick<EntryLog, "readAt">,
  units: readonly UnitOfRequest<Of>[],
  wanted: WantedValues,
): Promise<Of[]> {
  const positions = new Map<string, EntryPosition>();
  const keys = new Set<string>();
  for (const { requestId, unit } of units) {
    for (const seq of seqsOf(unit, wanted)) {
      positions.set(entryIdOf({ requestId, seq }), { requestId, seq });
      keys.add(unit.carriedKey ?? unit.key);
    }
  }
  const { body = false, output = false } = wanted;
  const found =
    positions.size === 0 ? [] : await log.readAt([...positions.values()], { keys: [...keys], body, output });
  const byId = new Map(found.map((entry) => [entryIdOf(entry), entry]));
  return units.map(({ requestId, unit }) =>
    filled(unit, wanted, (seq) => (seq === null ? undefined : byId.get(entryIdOf({ requestId, seq })))),
  );
}

/** All steps and items of a plan with their values, in plan order: one read. */
export function readStepRuns(
  log: Pick<EntryLog, "readAt">,
  state: PlanState,
  wanted: WantedValues,
): Promise<StepRun[]> {
  const units = stepRuns(state).map((unit) => ({ requestId: unit.requestId, unit }));
  return withValues(log, units, wanted);
}

function seqsOf(unit: Unit, { body, output }: WantedValues): number[] {
  const ofErrors = [
    unit.error?.dataBytes === undefined ? null : unit.errorSeq,
    ...unit.attempts.map(({ error, endSeq }) => (error?.dataBytes === undefined ? null : endSeq)),
  ];
  const seqs = [...(body ? [unit.argumentsSeq, ...ofErrors] : []), ...(output ? [unit.outputSeq] : [])];
  return seqs.filter((seq) => seq !== null);
}

type EntryAt = (seq: number | null) => SelectedEvents | undefined;

function filled<Of extends Unit>(unit: Of, { body, output }: WantedValues, entryAt: EntryAt): Of {
  return {
    ...unit,
    ...(body && bodyOf(unit, entryAt)),
    ...(output && outputOf(unit, entryAt)),
  };
}

function bodyOf(unit: Unit, entryAt: EntryAt): Partial<Unit> {
  // Its entries name it by its key in the version that executed it.
  const key = unit.carriedKey ?? unit.key;
  const args = lastOf(entryAt(unit.argumentsSeq), (event) => {
    if (event.type === "attempt.started" && event.units.includes(key)) return event.arguments;
    return event.type === "step.changed" && event.key === key ? event.toApprove?.arguments : undefined;
  });
  const error = lastOf(entryAt(unit.errorSeq), (event) =>
    event.type === "step.changed" && event.key === key ? event.error : undefined,
  );
  const attempts = unit.attempts.map((attempt): FoldedAttempt => {
    const errorWithData = lastOf(entryAt(attempt.endSeq), (event) =>
      event.type === "attempt.ended" && event.attemptId === attempt.attemptId ? event.error : undefined,
    );
    return errorWithData ? { ...attempt, error: errorWithData } : attempt;
  });
  return { arguments: args ?? unit.arguments, error: error ?? unit.error, attempts };
}

function outputOf(unit: Unit, entryAt: EntryAt): Partial<Unit> {
  const key = unit.carriedKey ?? unit.key;
  const { outputSeq } = unit;
  const completed = lastOf(entryAt(outputSeq), (event) =>
    event.type === "step.changed" && event.key === key && event.status === "COMPLETED" ? event : undefined,
  );
  const { output, outputText } = completed ?? {};
  return { ...(output !== undefined && { output }), ...(outputText !== undefined && { outputText }) };
}

function lastOf<T>(
  entry: SelectedEvents | undefined,
  pick: (event: JournalEvent) => T | null | undefined,
): T | undefined {
  let last: T | undefined;
  for (const event of entry?.events ?? []) last = pick(event) ?? last;
  return last;
}
