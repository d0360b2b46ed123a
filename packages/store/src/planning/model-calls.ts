/**
 * 1. A call is durable, and what it may take is set aside on its request, before it is sent: whoever dies in between leaves the reservation,
 *    and a limit is never exceeded by more than what one call takes beyond its estimate.
 * 2. Only the holder of the request's lease begins calls; anybody may end the call that he began.
 * 3. A call ends once: ending it again changes nothing.
 */
import { randomUUID } from "node:crypto";
import type { ClientSession } from "mongodb";
import type { ModelCallDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import type { PlanningStore } from "../store.ts";
import type { PlanningContext } from "./context.ts";
import { exceededLimit, NO_SPENDING, NO_USE, reserve, settle } from "./model-budget.ts";

/** The part of the store that keeps model calls, and what they may take. */
export function createModelCalls({
  collections: { requests, modelCalls },
  clock,
  transact,
}: PlanningContext): Pick<PlanningStore, "recordModelCall" | "beginModelCall" | "endModelCall"> {
  return {
    async recordModelCall(call) {
      await modelCalls.insertOne({ ...call, _id: randomUUID(), createdAt: new Date(clock.now()) });
    },

    async beginModelCall({ request: { _id, tenant }, epoch }, call) {
      const callId = randomUUID();
      return transact(async (session) => {
        const held = await requests.findOne({ _id, "planning.lease.epoch": epoch }, { session });
        if (!held) throw new LeaseLostError({ id: _id, epoch });
        const use = held.modelUse ?? NO_USE;
        const exceeded = exceededLimit(held.modelLimits, use, call.reserved);
        if (exceeded) return { type: "exceeded", ...exceeded } as const;
        await requests.updateOne({ _id }, { $set: { modelUse: reserve(use, call.reserved) } }, { session });
        await modelCalls.insertOne(openCall(callId), { session });
        return { type: "open", callId } as const;
      });

      function openCall(id: string): ModelCallDocument {
        return {
          _id: id,
          requestId: _id,
          tenant,
          ...call,
          answer: "",
          finishReason: null,
          inputTokens: null,
          outputTokens: null,
          cachedInputTokens: null,
          latencyMs: 0,
          costUsd: null,
          spent: null,
          error: null,
          createdAt: new Date(clock.now()),
          endedAt: null,
        };
      }
    },

    async endModelCall(callId, end) {
      await transact(async (session: ClientSession) => {
        const call = await modelCalls.findOneAndUpdate(
          { _id: callId, endedAt: null },
          { $set: { ...end, endedAt: new Date(clock.now()) } },
          { session, returnDocument: "before" },
        );
        if (!call) return;
        const request = await requests.findOne({ _id: call.requestId }, { session });
        const use = settle(request?.modelUse ?? NO_USE, call.reserved ?? NO_SPENDING, end.spent);
        await requests.updateOne({ _id: call.requestId }, { $set: { modelUse: use } }, { session });
      });
    },
  };
}
