import { createHash } from "node:crypto";
import type { Diagnostic, Plan, ToolPin } from "@planwright/plan";
import { createPlanId, createRequestId, type RandomBytes } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere } from "../database/insert-unless-there.ts";
import type { ServerClock } from "../database/server-clock.ts";
import { IdempotencyKeyReusedError } from "../records/errors.ts";
import type { NewWork, PlanningOptions } from "../records/new-documents.ts";
import { newPlan, newRequest } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { Accept } from "./accept.ts";
import type { Accepted } from "./acceptance-log.ts";
import { type Idempotency, KEY_LIFE_MS } from "./acceptance-store.ts";

/** Dependencies of {@link createAcceptance}. */
export interface AcceptanceDependencies {
  accept: Accept;
  collections: Pick<Collections, "requests" | "plans">;
  clock: Pick<ServerClock, "now">;
  randomBytes: RandomBytes;
}

/** The part of the store that accepts new work. */
export function createAcceptance(dependencies: AcceptanceDependencies) {
  const { accept, collections, clock, randomBytes } = dependencies;
  const { requests, plans } = collections;

  const newIds = () => {
    const nowMs = clock.now();
    return {
      requestId: createRequestId(nowMs, randomBytes),
      planId: createPlanId(nowMs, randomBytes),
      now: new Date(nowMs),
    };
  };

  /**
   * Accepts a submission unless its key has been used, and returns the request of the key. Of simultaneous
   * calls one is accepted.
   * @throws {IdempotencyKeyReusedError} when that request was made from another submission
   */
  async function acceptOnce(
    { request, plan }: Accepted,
    { key, payloadHash }: Idempotency,
  ): Promise<RequestDocument> {
    const { tenant } = request;
    const idempotency = { key: createHash("sha256").update(key).digest("hex"), payloadHash };
    for (;;) {
      const keyed = { ...request, idempotency };
      if (await accept.storeKeyed({ request: keyed, plan })) return keyed;
      const found = await requests.findOne({ tenant, "idempotency.key": idempotency.key });
      // The key expired between the insert and the read: it is free again.
      if (!found) continue;
      if (found.createdAt.getTime() <= clock.now() - KEY_LIFE_MS) {
        await requests.updateOne(
          { _id: found._id, "idempotency.key": idempotency.key },
          { $set: { idempotency: null } },
        );
        continue;
      }
      if (found.idempotency?.payloadHash !== payloadHash)
        throw new IdempotencyKeyReusedError({ requestId: found._id });
      return found;
    }
  }

  /**
   * The plan of the first version. It is stored here if the process that accepted it died before it did that.
   * Undefined when the request's key was removed meanwhile (`removeHalfAccepted`): the key is free.
   */
  async function firstPlan(request: RequestDocument, sent: PlanDocument): Promise<PlanDocument | undefined> {
    const { _id: requestId, planId, tenant } = request;
    const find = () => plans.findOne({ tenant, requestId, version: 1 });
    const stored = await find();
    if (stored) return stored;
    const { matchedCount } = await requests.updateOne(
      { _id: requestId, "idempotency.key": request.idempotency?.key },
      [{ $set: { updatedAt: "$$NOW" } }],
    );
    if (matchedCount === 0) return undefined;
    await insertUnlessThere(plans, { ...sent, _id: planId, requestId });
    return (await find()) ?? sent;
  }

  return {
    /**
     * Accepts a sentence: status PLANNING, ids fixed. Durable (majority, journalled) when it returns. A key
     * that was used for the same sentence returns the request that it made. @throws
     * {IdempotencyKeyReusedError}
     */
    async createRequest({
      idempotency,
      ...asked
    }: NewWork & PlanningOptions & { query: string; idempotency?: Idempotency | undefined }) {
      const request = newRequest({ ...newIds(), ...asked, source: "query" });
      if (idempotency) return acceptOnce({ request }, idempotency);
      await accept.store({ request });
      return request;
    },

    /**
     * Accepts a submitted plan, valid or not: a request READY (or EXECUTING with `autoExecute`), or FAILED
     * with a plan INVALID. `plan` is null when the submission could not be read as a plan. A key that was
     * used for the same plan returns the request that it made, with its first version. @throws
     * {IdempotencyKeyReusedError}
     */
    async submitPlan({
      idempotency,
      plan,
      toolPins,
      raw,
      diagnostics,
      ...asked
    }: NewWork & {
      query: string | null;
      plan: Plan | null /** From the catalogue that the plan was checked against. Default: nothing is pinned. */;
      toolPins?: ToolPin[] | undefined;
      raw: string;
      diagnostics: Diagnostic[];
      idempotency?: Idempotency | undefined;
    }) {
      const { autoExecute } = asked;
      const ids = newIds();
      const accepted = newRequest({ ...ids, ...asked, source: "plan" });
      const isValid = plan !== null && diagnostics.every((diagnostic) => diagnostic.severity !== "error");
      const request: RequestDocument = {
        ...accepted,
        status: isValid ? (autoExecute ? "EXECUTING" : "READY") : "FAILED",
        error: isValid ? null : { code: "PLAN_INVALID", message: "The submitted plan is not valid" },
        diagnostics,
        dueAt: null,
        planning: { ...accepted.planning, finishedAt: ids.now },
      };
      const document = newPlan({
        request,
        plan,
        toolPins,
        raw,
        origin: { kind: "submitted", model: null },
        diagnostics,
        status: isValid ? (autoExecute ? "QUEUED" : "READY") : "INVALID",
        now: ids.now,
      });
      if (!idempotency) {
        await accept.store({ request, plan: document });
        return { request, plan: document };
      }
      for (;;) {
        const kept = await acceptOnce({ request, plan: document }, idempotency);
        if (kept._id === request._id) return { request: kept, plan: document };
        const first = await firstPlan(kept, document);
        if (first) return { request: kept, plan: first };
      }
    },
  };
}
