/**
 * 1. A call is recorded, and its maximum is reserved, before it is sent. A planner that dies in between
 *    leaves the reservation. So a limit is exceeded at most by the amount that one call spends beyond its
 *    estimate.
 * 2. Only the owner of planning begins calls. The process that began a call records its end, whichever
 *    planner holds the request by then.
 * 3. A call ends once: a second end changes nothing.
 * 4. A call belongs to the claim that made it. The current claim of a request can use the answers to calls of
 *    earlier claims.
 * 5. A call for a question about contracts belongs to no request: its record alone has it.
 */

import { randomUUID } from "node:crypto";
import { type FoldedPlanning, type FoldedRequest, sumOf } from "@planwright/engine";
import { escapeHalves, type RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { NewEntry } from "../journal/journal.ts";
import type { GroupSet } from "../journal/pending-write.ts";
import type {
  EndedModelCall,
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
  ModelUse,
} from "../records/model-call-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { ContractAsk } from "../records/tool-documents.ts";
import { createContractAnswers } from "../tools/tool-store.ts";
import type { PlannerClaims, PlanningClaim } from "./planner-claims.ts";

type Begun = { type: "open"; callId: string } | ({ type: "exceeded" } & LimitExceeded);

/** The part of the store that records model calls and reserves their maximum. */
export function createModelCalls(
  { collections: { modelCalls }, clock }: StoreDependencies,
  claims: PlannerClaims,
) {
  /** Calls that this process began and that have not ended, with the claims under which their ends are written. */
  const open = new Map<string, PlanningClaim>();

  return {
    /** Stores a call of the offline drafter. It does not count towards any limit. */
    async recordModelCall(call: Omit<ModelCallDocument, "_id" | "createdAt">) {
      await modelCalls.insertOne({ ...call, _id: randomUUID(), createdAt: new Date(clock.now()) });
    },

    /**
     * Stores a call before it is sent and reserves its maximum, unless that would exceed a limit of the
     * request: then nothing is written. @throws {LeaseLostError}
     */
    async beginModelCall(claim: PlanningClaim, call: ModelCallBegin): Promise<Begun> {
      const callId = randomUUID();
      const { purpose, model, reserved } = call;
      const begun = await claims.append<Begun>(claim, ({ planning }) => {
        const exceeded = exceededLimit(claim.request.modelLimits, modelUseOf(planning), reserved);
        if (exceeded) return { done: { type: "exceeded", ...exceeded } };
        const of = { _id: callId, requestId: claim.request._id, tenant: claim.request.tenant };
        const insert = openCall({ ...call, ...of, epoch: claim.epoch }, new Date(clock.now()));
        return {
          events: [{ type: "model.called", callId, purpose, model, reserved }],
          following: (entry, after) => [{ collection: "modelCalls", insert }, useAfter(entry, after)],
          done: { type: "open", callId },
        };
      });
      if (begun.type === "open") open.set(callId, claim);
      return begun;
    },

    /** Stores the end of a call and counts its costs. Safe to repeat. Needs no lease: costs are real. */
    async endModelCall(callId: string, end: ModelCallEnd) {
      const claim = open.get(callId);
      if (!claim) return;
      await claims.appendWithoutLease<void>(claim, ({ planning }) => {
        if (!planning.calls.has(callId)) return {};
        const { spent, error, answer } = end;
        const set = { ...end, answer: escapeHalves(answer), endedAt: new Date(clock.now()) };
        return {
          events: [{ type: "model.answered", callId, spent, error }],
          following: (entry, after) => [
            { collection: "modelCalls", id: callId, condition: { endedAt: null }, set },
            useAfter(entry, after, planning.away && !after.planning.away ? { "planning.wait": null } : {}),
          ],
        };
      });
      open.delete(callId);
    },
  };
}

function openCall(
  call: Omit<ModelCallBegin, "purpose"> &
    Pick<ModelCallDocument, "_id" | "requestId" | "tenant" | "purpose" | "epoch">,
  createdAt: Date,
): ModelCallDocument {
  return {
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
    createdAt,
    endedAt: null,
  };
}

/** The write of the use to the request's document, unless the document follows a later entry. */
function useAfter({ requestId, seq }: NewEntry, { planning }: FoldedRequest, more: Document = {}): GroupSet {
  const isEarlier = { $or: [{ modelUseSeq: null }, { modelUseSeq: { $lt: seq } }] };
  const set = { modelUse: modelUseOf(planning), modelUseSeq: seq, ...more };
  return { collection: "requests", id: requestId, condition: isEarlier, set };
}

/** The part of the store by which a planner answers questions about the contracts of a server's tools. */
export function createContractAsks(context: StoreDependencies) {
  const { clock } = context;
  const { modelCalls } = context.collections;
  return {
    ...createContractAnswers(context),
    /** Stores a call for a question before it is sent. It belongs to no request and to no journal. */
    async beginContractCall({ id, tenant }: ContractAsk, call: Omit<ModelCallBegin, "purpose">) {
      const callId = `${id}/${randomUUID()}`;
      const of = { _id: callId, requestId: id as RequestId, tenant, purpose: "contracts" as const };
      await modelCalls.insertOne(openCall({ ...call, ...of }, new Date(clock.now())));
      return { type: "open" as const, callId };
    },

    async endContractCall(callId: string, end: ModelCallEnd) {
      const set = { ...end, answer: escapeHalves(end.answer), endedAt: new Date(clock.now()) };
      await modelCalls.updateOne({ _id: callId, endedAt: null }, { $set: set });
    },
  };
}

export type ContractAskStore = ReturnType<typeof createContractAsks>;

/**
 * See `earlierCalls` of a claim. `planning.claimsOfWork` starts at 0 for each work, so an answer for one
 * replan is never used for the next one.
 */
export function earlierCalls(
  { modelCalls }: Collections,
  { _id, tenant, epoch, planning: { claimsOfWork } }: RequestDocument,
): Promise<EndedModelCall[]> {
  return modelCalls
    .find({
      tenant,
      requestId: _id,
      isAnswerComplete: true,
      epoch: { $gt: epoch - claimsOfWork, $lt: epoch },
    })
    .sort({ epoch: -1, createdAt: 1 })
    .toArray();
}

/** A model call that is about to be sent. */
export type ModelCallBegin = Pick<ModelCallDocument, "model" | "messages"> & {
  purpose: Exclude<ModelCallDocument["purpose"], "contracts">;
} & Required<Pick<ModelCallDocument, "attempt" | "fallbackFor" | "reserved">> &
  Pick<ModelCallDocument, "askDigest">;

/** How a model call ended. */
export type ModelCallEnd = Pick<
  ModelCallDocument,
  "answer" | "finishReason" | "inputTokens" | "outputTokens" | "latencyMs" | "costUsd" | "error"
> &
  Required<Pick<ModelCallDocument, "cachedInputTokens" | "pricing">> &
  Pick<ModelCallDocument, "isAnswerComplete"> & { spent: ModelSpending };

/* Limits and use of the model calls of one request. Pure: the journal has the amounts. */

/** A limit that the next call might exceed, with the amounts. */
export interface LimitExceeded {
  limit: keyof ModelLimits;
  max: number;
  /** Spent and reserved so far. */
  used: number;
  /** Maximum of the next call. */
  needed: number;
}

/** No calls, tokens or costs. */
export const NO_SPENDING: ModelSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** The use before the first call. */
export const NO_USE: ModelUse = { spent: NO_SPENDING, reserved: NO_SPENDING };

/** The use by the folded model calls of a request. */
export function modelUseOf({ spent, calls }: Pick<FoldedPlanning, "spent" | "calls">): ModelUse {
  return { spent, reserved: sumOf(calls.values()) };
}

/** The first limit that another call could exceed, if all reserved amounts are spent; null when there is none. */
export function exceededLimit(
  limits: ModelLimits | undefined,
  { spent, reserved }: ModelUse,
  next: ModelSpending,
): LimitExceeded | null {
  for (const { limit, unit } of LIMITS) {
    const max = limits?.[limit] ?? null;
    const used = spent[unit] + reserved[unit];
    const needed = next[unit];
    if (max !== null && round(used + needed) > max) return { limit, max, used: round(used), needed };
  }
  return null;
}

const LIMITS = [
  { limit: "maxModelCalls", unit: "modelCalls" },
  { limit: "maxTokens", unit: "tokens" },
  { limit: "maxCostUsd", unit: "costUsd" },
] as const;

/** Rounds to a billionth, to remove errors of binary fractions. */
const round = (value: number) => Math.round(value * 1e9) / 1e9;
