import {
  createPlanId,
  createRequestId,
  type PlanId,
  type RandomBytes,
  type RequestId,
  type RequestStatus,
} from "@planwright/plan";
import type { ClientSession, Filter } from "mongodb";
import type { Collections } from "./collections.ts";
import { parseCursor, toCursor } from "./cursor.ts";
import type { PlanDocument, RequestDocument } from "./documents.ts";
import type { GroupCommit } from "./group-commit.ts";
import { newPlan, newRequest, newSteps } from "./new-documents.ts";
import { createReadGroup } from "./read-group.ts";
import type { ServerClock } from "./server-clock.ts";
import type { ClientStore } from "./store.ts";
import { readCatalogue } from "./tool-catalogue.ts";

/** What accepting and reading needs. */
export interface ClientStoreParts {
  collections: Collections;
  group: GroupCommit;
  clock: ServerClock;
  randomBytes: RandomBytes;
  /** Runs the function in a transaction, again on a transient conflict. */
  transact: <T>(run: (session: ClientSession) => Promise<T>) => Promise<T>;
}

/** Accepting, asking, reading: everything that clients reach, bound to a tenant. */
export function createClientStore(parts: ClientStoreParts): ClientStore {
  const { collections, group, clock, randomBytes, transact } = parts;
  const readPlan = createReadGroup(parts.collections.plans);
  const { requests, plans, steps, modelCalls, tools } = collections;

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

    async queuePlan(tenant, planId, requestId) {
      const [isQueued] = await Promise.all([
        group.update({
          collection: "plans",
          id: planId,
          condition: { tenant, status: "READY" },
          expressions: { status: "QUEUED", queuedAt: "$$NOW", dueAt: "$$NOW", updatedAt: "$$NOW" },
        }),
        // Should this be done alone, the plan is still READY and asking again queues it; the other way round its end corrects it.
        group.update({
          collection: "requests",
          id: requestId,
          condition: { tenant, planId, status: "READY" },
          expressions: { status: "EXECUTING", updatedAt: "$$NOW" },
        }),
      ]);
      const plan = await readPlan(planId);
      if (!isQueued && !plan) {
        // Still being planned: it starts as soon as there is a plan.
        await requests.updateOne(
          { _id: requestId, tenant, planId, status: "PLANNING" },
          { $set: { autoExecute: true } },
        );
      }
      return plan?.tenant === tenant ? plan : null;
    },

    async requestCancel(tenant, planId) {
      const ended = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: ["READY", "AWAITING_APPROVAL"] } },
        [{ $set: { status: "CANCELLED", dueAt: null, finishedAt: "$$NOW", updatedAt: "$$NOW" } }],
        { returnDocument: "after" },
      );
      if (ended) {
        await Promise.all([
          requests.updateOne({ _id: ended.requestId, planId }, [
            { $set: { status: "CANCELLED", updatedAt: "$$NOW" } },
          ]),
          steps.updateMany({ tenant, planId, finishedAt: null }, [
            { $set: { status: "CANCELLED", finishedAt: "$$NOW", updatedAt: "$$NOW", waitReason: null } },
          ]),
        ]);
        return ended;
      }
      const asked = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: ["QUEUED", "RUNNING", "WAITING", "PAUSED"] } },
        [
          {
            $set: {
              wishes: { $add: ["$wishes", 1] },
              cancelRequestedAt: { $ifNull: ["$cancelRequestedAt", "$$NOW"] },
              // A plan that nobody holds is due now; one that is held stays with its executor until its lease ends.
              dueAt: { $cond: [{ $eq: ["$lease", null] }, "$$NOW", "$dueAt"] },
              updatedAt: "$$NOW",
            },
          },
        ],
        { returnDocument: "after" },
      );
      return asked ?? plans.findOne({ _id: planId, tenant });
    },

    getRequest: (tenant, requestId) => requests.findOne({ _id: requestId, tenant }),
    getPlan: (tenant, planId) => plans.findOne({ _id: planId, tenant }),
    listPlans: (tenant, requestId) => plans.find({ tenant, requestId }).sort({ version: -1 }).toArray(),

    async getPlans(tenant, planIds) {
      const found = await plans.find({ _id: { $in: [...planIds] }, tenant }).toArray();
      const byId = new Map<PlanId, PlanDocument>(found.map((plan) => [plan._id, plan]));
      return planIds.map((planId) => byId.get(planId) ?? null);
    },

    listSteps: (tenant, planIds) =>
      steps
        .find({ tenant, planId: { $in: [...planIds] } })
        .sort({ planId: 1, position: 1, item: 1 })
        .toArray(),

    async listRequests(tenant, { first, after, status }) {
      const found = await requests
        .find(pageFilter(tenant, after, status))
        .sort({ createdAt: -1, _id: -1 })
        .limit(first + 1)
        .toArray();
      const items = found.slice(0, first);
      const last = items.at(-1);
      const hasMore = found.length > first && last !== undefined;
      return { items, cursor: hasMore ? toCursor({ createdAt: last.createdAt, id: last._id }) : null };
    },

    listModelCalls: (tenant: string, requestId: RequestId) =>
      modelCalls.find({ tenant, requestId }).sort({ createdAt: 1, _id: 1 }).toArray(),
    listTools: () => tools.find().sort({ _id: 1 }).toArray(),
    toolCatalogue: () => readCatalogue(collections),
  };
}

function pageFilter(
  tenant: string,
  after: string | undefined,
  status: readonly RequestStatus[] | undefined,
): Filter<RequestDocument> {
  const filter: Filter<RequestDocument> = { tenant };
  if (status && status.length > 0) filter.status = { $in: [...status] };
  if (after !== undefined) {
    const { createdAt, id } = parseCursor(after);
    filter.$or = [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: id } }];
  }
  return filter;
}
