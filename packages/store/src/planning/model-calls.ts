/**
 * 1. A call is durable, and what it may take is set aside on its request, before it is sent: a planner that dies in between leaves the reservation,
 *    and a limit is never exceeded by more than what one call takes beyond its estimate.
 * 2. Only the holder of the request's lease begins calls; anybody may end the call that he began.
 * 3. A call ends once: ending it again changes nothing.
 * 4. A call belongs to the claim that made it. What the claims before a request's current one were answered is there for it.
 */
import { randomUUID } from "node:crypto";
import type { ClientSession } from "mongodb";
import type { Collections } from "../collections.ts";
import type { ModelCallDocument, RequestDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import type { EndedModelCall, PlanningStore } from "../store.ts";
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
          epoch,
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

/**
 * See `earlierCalls` of a claim. The claims of the work at hand are as many as `planning.claims` says, which is 0 again whenever something
 * else is to be done: an answer to a replan that is over is never one to the next.
 */
export function earlierCalls(
  { modelCalls }: Pick<Collections, "modelCalls">,
  { _id, tenant, planning: { epoch, claims } }: RequestDocument,
): Promise<EndedModelCall[]> {
  return modelCalls
    .find({ tenant, requestId: _id, isAnswerWhole: true, epoch: { $gt: epoch - claims, $lt: epoch } })
    .sort({ epoch: -1, createdAt: 1 })
    .toArray();
}
