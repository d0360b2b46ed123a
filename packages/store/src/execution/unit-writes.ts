import { type StepError, unitKeysOf } from "@planwright/engine";
import { isTerminalStepStatus, type JsonObject } from "@planwright/plan";
import type { AttemptDocument, OutputRef, StepDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import { newStep } from "../new-documents.ts";
import { type LargeValue, measureValue } from "../outputs/inline-value.ts";
import { writeOutput } from "../outputs/output-store.ts";
import { previewOf } from "../outputs/preview.ts";
import type { AttemptEnd, ExecutionStore, Intent, NotedChange, PlanClaim, UnitRecord } from "../store.ts";
import type { ExecutionContext } from "./context.ts";
import { insertUnits } from "./insert-units.ts";

/** The part of the store that writes intents and results. A terminal state never changes: `finishedAt` is part of the fence. */
export function createUnitWrites(
  context: ExecutionContext,
): Pick<ExecutionStore, "writeIntents" | "noteIntents" | "writeNoted" | "writeRecords"> {
  const { group, clock } = context;

  /** Writes fields of a unit's document and keeps the claim's copy current. */
  async function writeUnit(
    claim: PlanClaim,
    document: StepDocument,
    fields: Partial<StepDocument>,
  ): Promise<void> {
    const noted = claim.noted.get(document.key)?.change;
    claim.noted.delete(document.key);
    const set = { ...noted, ...fields, updatedAt: new Date(clock.now()) };
    Object.assign(document, set);
    const isDone = await group.set({
      collection: "steps",
      id: document._id,
      condition: { epoch: claim.epoch, finishedAt: null },
      set,
    });
    if (!isDone) throw new LeaseLostError({ id: document._id, epoch: claim.epoch });
  }

  /** What the beginning of an attempt changes on each unit that the call serves. */
  function begin(claim: PlanClaim, { call, attemptId, argsHash }: Intent): NotedChange[] {
    const startedAt = new Date(clock.now());
    const kept = keptArguments(call.arguments);
    return unitKeysOf(call).map((key) => {
      const document = unitOf(claim, key);
      const attempt: AttemptDocument = {
        attempt: call.attempt,
        attemptId,
        executor: claim.owner,
        startedAt,
        endedAt: null,
        durationMs: null,
        outcome: null,
        error: null,
      };
      const change: Partial<StepDocument> = {
        status: "RUNNING",
        attempts: [...document.attempts, attempt],
        effectClass: call.effectClass,
        ...kept,
        argsHash,
        waitReason: null,
        nextAttemptAt: null,
        startedAt: document.startedAt ?? startedAt,
      };
      return { document, change };
    });
  }

  /** The new state of a unit. An output that stands aside is durable before the state that refers to it is written (R2). */
  async function writeRecord(
    claim: PlanClaim,
    record: UnitRecord,
    end: AttemptEnd | undefined,
  ): Promise<void> {
    const measured = record.output === undefined ? undefined : measureValue(record.output);
    const isAside = measured?.fits === false;
    const outputRef = isAside ? await writeAside(claim, record.key, measured) : null;
    const document = unitOf(claim, record.key);
    const kept = { ...record, output: isAside ? undefined : record.output };
    const change = toChange(document, kept, end, clock.now());
    await writeUnit(claim, document, outputRef ? { ...change, outputRef } : change);
  }

  function writeAside(claim: PlanClaim, key: string, output: LargeValue): Promise<OutputRef> {
    const { _id: planId, tenant } = claim.plan;
    return writeOutput(context, { tenant, planId, key, epoch: claim.epoch }, output);
  }

  return {
    async writeIntents(claim, intents) {
      const writes = intents.flatMap((intent) => begin(claim, intent));
      await Promise.all(writes.map(({ document, change }) => writeUnit(claim, document, change)));
    },

    noteIntents(claim, intents) {
      for (const intent of intents) {
        for (const { document, change } of begin(claim, intent)) {
          claim.noted.set(document.key, { document, change });
          Object.assign(document, change);
        }
      }
    },

    async writeNoted(claim) {
      await Promise.all([...claim.noted.values()].map(({ document }) => writeUnit(claim, document, {})));
    },

    async writeRecords(claim, records, ends) {
      const endOf = new Map(ends.map((end) => [end.key, end]));
      const isKnown = ({ key }: UnitRecord): boolean => claim.steps.has(key);
      const known = records.filter(isKnown);
      const fresh = records.filter((record) => !isKnown(record));
      await Promise.all([
        ...known.map((record) => writeRecord(claim, record, endOf.get(record.key))),
        ...(fresh.length > 0 ? [insertUnits(context, claim, fresh.map(toDocument(claim)))] : []),
      ]);
    },
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

/** @throws {LeaseLostError} for a unit that this claim never wrote: it cannot be its owner's to change */
function unitOf({ plan, epoch, steps }: PlanClaim, key: string): StepDocument {
  const document = steps.get(key);
  if (!document) throw new LeaseLostError({ id: `${plan._id}/${key}`, epoch });
  return document;
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
    error: keptError(record.error),
    warnings: record.warnings ?? document.warnings,
    waitReason: record.waitReason ?? null,
    approved: record.approved ?? document.approved,
    ...toApprove(record),
    nextAttemptAt: record.nextAttemptAt === undefined ? null : new Date(record.nextAttemptAt),
    ...(end ? { attempts: document.attempts.map((attempt) => closeAttempt(attempt, end)) } : {}),
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

/** Arguments as they stand in a document: themselves, or what is kept of large ones. */
function keptArguments(args: JsonObject): Pick<StepDocument, "arguments" | "argumentsPreview"> {
  const measured = measureValue(args);
  return measured.fits
    ? { arguments: args, argumentsPreview: null }
    : { arguments: null, argumentsPreview: previewOf(measured) };
}

function closeAttempt(attempt: AttemptDocument, end: AttemptEnd): AttemptDocument {
  if (attempt.attemptId !== end.attemptId) return attempt;
  const { outcome, durationMs } = end;
  const error = keptError(end.error);
  return { ...attempt, endedAt: new Date(end.endedAtMs), outcome, error, durationMs };
}

/** An error without what its tool added, when that is too large to stand here: it is written with every attempt. */
function keptError(error: StepError | null | undefined): StepError | null {
  if (error?.data === undefined || measureValue(error.data).fits) return error ?? null;
  const { data: _, ...kept } = error;
  return kept;
}
