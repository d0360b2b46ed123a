import { createPlanId, createRequestId, type RequestId } from "@planwright/plan";
import type { ClientSession } from "mongodb";
import type { RequestDocument } from "../documents.ts";
import { StoreUnavailableError } from "../errors.ts";
import { newPlan, newRequest } from "../new-documents.ts";
import type { ClientStore } from "../store.ts";
import { acceptOnce } from "./accept-once.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that takes on new work. */
export function createAcceptance(context: ClientContext): Pick<ClientStore, "createRequest" | "submitPlan"> {
  const { collections, clock, randomBytes, transact } = context;
  const { requests, plans } = collections;

  const newIds = () => {
    const nowMs = clock.now();
    return {
      requestId: createRequestId(nowMs, randomBytes),
      planId: createPlanId(nowMs, randomBytes),
      now: new Date(nowMs),
    };
  };

  async function earlierRequest(tenant: string, requestId: RequestId): Promise<RequestDocument> {
    const request = await requests.findOne({ _id: requestId, tenant });
    if (!request) throw new StoreUnavailableError({ operation: "read what a key stands for" });
    return request;
  }

  return {
    async createRequest({ idempotency, ...asked }) {
      const { tenant } = asked;
      const request = newRequest({ ...newIds(), ...asked, source: "query" });
      if (!idempotency) {
        await requests.insertOne(request);
        return request;
      }
      const insert = async (session: ClientSession) => void (await requests.insertOne(request, { session }));
      const requestId = await acceptOnce(context, { tenant, idempotency, requestId: request._id, insert });
      return requestId === request._id ? request : earlierRequest(tenant, requestId);
    },

    async submitPlan({ idempotency, plan, toolPins, raw, diagnostics, ...asked }) {
      const { tenant, autoExecute } = asked;
      const ids = newIds();
      const accepted = newRequest({ ...ids, ...asked, source: "plan" });
      const isValid = plan !== null && diagnostics.every((diagnostic) => diagnostic.severity !== "error");
      const request: RequestDocument = {
        ...accepted,
        status: isValid ? (autoExecute ? "EXECUTING" : "READY") : "FAILED",
        error: isValid ? null : { code: "PLAN_INVALID", message: "The submitted plan is not valid" },
        diagnostics,
        planning: { ...accepted.planning, dueAt: null, finishedAt: ids.now },
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
      const insert = async (session: ClientSession): Promise<void> => {
        await requests.insertOne(request, { session });
        await plans.insertOne(document, { session });
      };
      if (!idempotency) {
        await transact(insert);
        return { request, plan: document };
      }
      const requestId = await acceptOnce(context, { tenant, idempotency, requestId: request._id, insert });
      if (requestId === request._id) return { request, plan: document };
      const [earlier, first] = await Promise.all([
        earlierRequest(tenant, requestId),
        plans.findOne({ tenant, requestId, version: 1 }),
      ]);
      // Never: both were written in one transaction. Majority reads may lag behind it for a moment on a failover.
      if (!first) throw new StoreUnavailableError({ operation: "read what a key stands for" });
      return { request: earlier, plan: first };
    },
  };
}
