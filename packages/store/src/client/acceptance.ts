import { createPlanId, createRequestId } from "@planwright/plan";
import type { RequestDocument } from "../documents.ts";
import { newPlan, newRequest, newSteps } from "../new-documents.ts";
import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that takes on new work. */
export function createAcceptance(context: ClientContext): Pick<ClientStore, "createRequest" | "submitPlan"> {
  const { collections, clock, randomBytes, transact } = context;
  const { requests, plans, steps } = collections;

  const newIds = () => {
    const nowMs = clock.now();
    return {
      requestId: createRequestId(nowMs, randomBytes),
      planId: createPlanId(nowMs, randomBytes),
      now: new Date(nowMs),
    };
  };

  return {
    async createRequest({ tenant, query, autoExecute }) {
      const request = newRequest({ ...newIds(), tenant, source: "query", query, autoExecute });
      await requests.insertOne(request);
      return request;
    },

    async submitPlan({ tenant, query, plan, raw, diagnostics, autoExecute }) {
      const ids = newIds();
      const accepted = newRequest({ ...ids, tenant, source: "plan", query, autoExecute });
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
        raw,
        origin: { kind: "submitted", model: null },
        diagnostics,
        status: isValid ? (autoExecute ? "QUEUED" : "READY") : "INVALID",
        now: ids.now,
      });
      await transact(async (session) => {
        await requests.insertOne(request, { session });
        await plans.insertOne(document, { session });
        if (isValid) await steps.insertMany(newSteps(document, plan), { session });
      });
      return { request, plan: document };
    },
  };
}
