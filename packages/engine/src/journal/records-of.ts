import type { StepRecord } from "../state/protocol.ts";
import type { FoldedPlan, FoldedUnit } from "./folded.ts";

/**
 * The records with which an engine resumes a plan: one for each unit in the folded plan. For an output that
 * is stored separately the record has only its size; the engine requests the output when it needs it. Pure.
 */
export function recordsOf({ units }: FoldedPlan): StepRecord[] {
  return [...units.values()].map(recordOf);
}

function recordOf(unit: FoldedUnit): StepRecord {
  const { key, stepId, item, status, attempts, outputRef, outputBytes, outputText, warnings, unanswered } =
    unit;
  const record: StepRecord = { key, stepId, status, attempts: attempts.length };
  const unsent = attempts.filter(({ unsent: seen, isLookup }) => seen || isLookup).length;
  const latest = attempts.at(-1)?.unsent;
  if (item !== undefined) record.item = item;
  if (unsent > 0) record.unsent = unsent;
  if (latest && !latest.isOver) record.unreachable = { since: latest.since.getTime(), tries: latest.tries };
  const storedBytes = outputRef?.sizeBytes ?? outputBytes;
  if (storedBytes !== undefined) record.outputBytes = storedBytes;
  if (unit.output !== undefined) record.output = unit.output;
  if (outputText !== undefined) record.outputText = outputText;
  if (unit.error) {
    const { dataBytes: _, ...error } = unit.error;
    record.error = error;
  }
  if (unit.waitReason) record.waitReason = unit.waitReason;
  if (unit.nextAttemptAt) record.nextAttemptAt = unit.nextAttemptAt.getTime();
  if (unit.expiresAt) record.expiresAt = unit.expiresAt.getTime();
  if (warnings.length > 0) record.warnings = [...warnings];
  if (unit.mayHaveActed) record.mayHaveActed = true;
  const open = unanswered.filter(({ isAnswered }) => !isAnswered);
  if (open.length > 0) record.unanswered = open.map((call) => call.key);
  if (unit.approved) record.approved = true;
  if (unit.carriedFrom) record.carried = true;
  return record;
}
