import { unitKeysOf } from "@planwright/engine";
import type { AttemptDocument, StepDocument } from "../documents.ts";
import type { ExecutionStore, Intent, NotedChange, PlanClaim } from "../store.ts";
import type { ExecutionContext } from "./context.ts";
import { createRecordWrites } from "./record-writes.ts";
import { changeUnit, keptArguments, requireHeld, unitOf } from "./units.ts";

/** The part of the store that writes intents and results. A terminal state never changes: `finishedAt` is part of the fence. */
export function createUnitWrites(
  context: ExecutionContext,
): Pick<ExecutionStore, "writeIntents" | "noteIntents" | "writeNoted" | "writeRecords"> {
  const { group, clock } = context;
  const prepareRecords = createRecordWrites(context);

  /** Writes fields of a unit's document and keeps the claim's copy current. */
  async function writeUnit(
    claim: PlanClaim,
    document: StepDocument,
    fields: Partial<StepDocument>,
  ): Promise<void> {
    requireHeld(claim, [await group.set(changeUnit(claim, { document, fields, nowMs: clock.now() }))]);
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
      const writes = await prepareRecords(claim, records, ends);
      const answers = await Promise.all(writes.map((write) => group.set(write)));
      requireHeld(claim, answers);
    },
  };
}
