import { type CallToApprove, type CarriedUnit, type Outcome, unitKeysOf } from "@planwright/engine";
import { sha256 } from "@planwright/plan";
import type { EarlierCall, ExecutionStore, PlanClaim, Repeat } from "@planwright/store";

/** The comparison of calls with those of earlier versions of the plan. */
export interface EarlierCalls {
  /** True for a call that may have an effect and is the first of its units in this version. */
  mayRepeat: (call: CallToApprove) => boolean;
  /**
   * What the earlier calls mean for this one: how it ends without being sent, or the idempotency key under
   * which it was sent before; without a key it is a new call. Also reserves the earlier calls for its units.
   * @param argsHash - of its resolved arguments
   */
  compare(call: CallToApprove, argsHash: string): Promise<Outcome | { sentKey?: string | undefined }>;
  /**
   * True when earlier versions have made all these calls of a step, for all units: `compare` carries each of
   * them over.
   */
  areDone: (calls: readonly CallToApprove[]) => Promise<boolean>;
}

/** The earlier versions are read once, before the first call that may have an effect. */
export function createEarlierCalls(
  claim: PlanClaim,
  store: Pick<ExecutionStore, "readRepeats">,
): EarlierCalls {
  const hasEarlier = claim.journal.request().plans.size > 1;
  let repeats: ReturnType<ExecutionStore["readRepeats"]> | undefined;

  const earlierCalls: EarlierCalls = {
    mayRepeat: (call) =>
      hasEarlier &&
      call.mayAct &&
      call.effectClass !== "R" &&
      unitKeysOf(call).every((key) => (claim.journal.unit(key)?.attempts.length ?? 0) === 0),

    async compare(call, argsHash) {
      repeats ??= store.readRepeats(claim);
      const repeatOf = await repeats;
      if (!repeatOf) return {};
      const { stepId, tool, itemHashes } = call;
      const isApproved = claim.journal.unit(stepId)?.approved ?? false;
      const found = unitKeysOf(call).map((key, index) => {
        const hash = itemHashes?.[index] ?? argsHash;
        return { key, repeat: repeatOf({ key, stepId, tool, hash, argsHash, isApproved }) };
      });
      const done = found.flatMap(({ key, repeat }) =>
        repeat.type === "done" ? [[key, carried(repeat.call)] as const] : [],
      );
      if (done.length > 0) return { type: "carried", units: new Map(done) };
      const refused = found.map(({ repeat }) => repeat).find(({ type }) => type === "not accepted");
      if (refused) return notAccepted(call, refused);
      const sent = found.flatMap(({ repeat }) => (repeat.type === "same key" ? [repeat.call.sentKey] : []));
      return { sentKey: sent[0] };
    },

    async areDone(calls) {
      for (const call of calls) {
        if (!earlierCalls.mayRepeat(call)) return false;
        const found = await earlierCalls.compare(call, sha256(JSON.stringify(call.arguments)));
        const carriedUnits = "type" in found && found.type === "carried" ? found.units.size : 0;
        if (carriedUnits < unitKeysOf(call).length) return false;
      }
      return true;
    },
  };
  return earlierCalls;
}

function carried({ version, unit }: EarlierCall): CarriedUnit {
  const { outputRef, outputBytes } = unit;
  const bytes = outputRef?.sizeBytes ?? outputBytes;
  const { planId } = version.folded;
  return { planId, key: unit.key, ...(bytes === undefined ? { output: null } : { outputBytes: bytes }) };
}

function notAccepted({ stepId, key }: CallToApprove, repeat: Repeat): Outcome {
  const call = "call" in repeat ? repeat.call : undefined;
  const version = call?.version.folded.version ?? 1;
  const acted = call?.effect === "done" ? "is done" : "may have acted";
  const message = `${key} was not called: the same call of ${call?.unit.key ?? key} in version ${version} ${acted}. See whether it should happen again; then run the plan again with acceptRepeat: ["${stepId}"]`;
  return {
    type: "failed",
    effect: "none",
    error: { code: "REPEAT_NOT_ACCEPTED", message, retryable: false },
  };
}
