import type { StepError } from "@planwright/engine";
import { isTerminalStepStatus } from "@planwright/plan";
import type { AttemptDocument, OutputRef, StepDocument } from "../documents.ts";
import type { GroupSet } from "../group-commit/group-commit.ts";
import { newStep } from "../new-documents.ts";
import { type LargeValue, measureOutput, measureValue } from "../outputs/inline-value.ts";
import { writeOutput } from "../outputs/output-store.ts";
import type { AttemptEnd, PlanClaim, UnitRecord } from "../store.ts";
import type { ExecutionContext } from "./context.ts";
import { insertUnits } from "./insert-units.ts";
import { changeUnit, keptArguments, unitOf } from "./units.ts";

/** The writes of new states. What they refer to (R2), and units that have no document, are durable when it answers. */
type PrepareRecords = (
  claim: PlanClaim,
  records: readonly UnitRecord[],
  ends: readonly AttemptEnd[],
) => Promise<GroupSet[]>;

/** How new states of units are written. The claim's copies of the units are as the writes make them. */
export function createRecordWrites(context: ExecutionContext): PrepareRecords {
  async function prepare(
    claim: PlanClaim,
    record: UnitRecord,
    end: AttemptEnd | undefined,
  ): Promise<GroupSet> {
    const measured =
      record.output === undefined ? undefined : measureOutput(record.output, record.outputText);
    const isAside = measured?.fits === false;
    const outputRef = isAside ? await writeAside(claim, record.key, measured) : null;
    const document = unitOf(claim, record.key);
    const isOwnText = isAside && typeof record.outputText === "string";
    const kept = {
      ...record,
      output: isAside ? undefined : record.output,
      outputText: isOwnText ? undefined : record.outputText,
    };
    const nowMs = context.clock.now();
    const change = toChange(document, kept, end, nowMs);
    const ref = outputRef && { ...outputRef, ...(isOwnText && { isOwnText }) };
    return changeUnit(claim, { document, fields: ref ? { ...change, outputRef: ref } : change, nowMs });
  }

  function writeAside(claim: PlanClaim, key: string, output: LargeValue): Promise<OutputRef> {
    const { _id: planId, tenant } = claim.plan;
    return writeOutput(context, { tenant, planId, key, epoch: claim.epoch }, output);
  }

  return async (claim, records, ends) => {
    const endOf = new Map(ends.map((end) => [end.key, end]));
    const isKnown = ({ key }: UnitRecord): boolean => claim.steps.has(key);
    const known = records.filter(isKnown);
    const fresh = records.filter((record) => !isKnown(record));
    const [writes] = await Promise.all([
      Promise.all(known.map((record) => prepare(claim, record, endOf.get(record.key)))),
      fresh.length > 0 ? insertUnits(context, claim, fresh.map(toDocument(claim))) : undefined,
    ]);
    return writes;
  };
}

/** The first record of an item is its document. It takes its place and its tool from its step, which is there since the plan is. */
function toDocument(claim: PlanClaim): (record: UnitRecord) => StepDocument {
  return (record) => {
    const { key, stepId, item = null } = record;
    const { position, tool } = unitOf(claim, stepId);
    const place = { key, stepId, item, position, tool, epoch: claim.epoch, waitReason: null };
    const document = newStep(claim.plan, place);
    return { ...document, ...toChange(document, record, undefined, document.updatedAt.getTime()) };
  };
}

/** Fields that a unit's new state changes. */
function toChange(
  document: StepDocument,
  record: UnitRecord,
  end: AttemptEnd | undefined,
  nowMs: number,
): Partial<StepDocument> {
  const isOver = isTerminalStepStatus(record.status);
  const startedAt = document.startedAt;
  return {
    status: record.status,
    output: record.output ?? null,
    ...(record.outputText !== undefined && { outputText: record.outputText }),
    error: keptError(record.error),
    warnings: record.warnings ?? document.warnings,
    waitReason: record.waitReason ?? null,
    approved: record.approved ?? document.approved,
    ...toApprove(record),
    nextAttemptAt: record.nextAttemptAt === undefined ? null : new Date(record.nextAttemptAt),
    ...(end ? { attempts: closeAttempts(document.attempts, end) } : {}),
    ...(isOver ? { finishedAt: new Date(nowMs) } : {}),
    ...(isOver && startedAt ? { durationMs: Math.max(0, nowMs - startedAt.getTime()) } : {}),
  };
}

/** What an operator is shown, for a unit that waits for approval. */
function toApprove(record: UnitRecord): Partial<StepDocument> {
  if (!record.arguments) return {};
  const { argsHash, approvalHash } = record;
  return {
    ...keptArguments(record.arguments),
    argsHash: argsHash ?? null,
    approvalHash: approvalHash ?? null,
  };
}

/** Tries in a row that found the server away are one attempt: its document stays small however long that lasts. */
function closeAttempts(attempts: readonly AttemptDocument[], end: AttemptEnd): AttemptDocument[] {
  const closed = attempts.map((attempt) => closeAttempt(attempt, end));
  const [before, latest] = closed.slice(-2);
  if (latest?.attemptId !== end.attemptId || !latest.unsent || !before?.unsent) return closed;
  const { attempt, startedAt } = before;
  const durationMs = Math.max(0, end.endedAtMs - startedAt.getTime());
  const unsent = { ...before.unsent, tries: before.unsent.tries + 1 };
  return [...closed.slice(0, -2), { ...latest, attempt, startedAt, durationMs, unsent }];
}

function closeAttempt(attempt: AttemptDocument, end: AttemptEnd): AttemptDocument {
  if (attempt.attemptId !== end.attemptId) return attempt;
  const { outcome, durationMs } = end;
  const error = keptError(end.error);
  const endedAt = new Date(end.endedAtMs);
  const closed = { ...attempt, endedAt, outcome, error, durationMs };
  return end.isUnsent ? { ...closed, unsent: { tries: 1, since: endedAt } } : closed;
}

/** An error without what its tool added, when that is too large to stand here: it is written with every attempt. */
function keptError(error: StepError | null | undefined): StepError | null {
  if (error?.data === undefined || measureValue(error.data).fits) return error ?? null;
  const { data: _, ...kept } = error;
  return kept;
}
