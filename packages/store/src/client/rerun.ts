import {
  createPlanId,
  findTool,
  isTerminalPlanStatus,
  type Plan,
  planGraph,
  type ToolDescriptor,
  toolContract,
  toolOfStep,
} from "@planwright/plan";
import type { ClientSession } from "mongodb";
import type { RequestDocument } from "../documents.ts";
import { newPlan } from "../new-documents.ts";
import type { ClientStore, RerunAnswer } from "../store.ts";
import { readCatalogue } from "../tool-catalogue.ts";
import { carriedUnits, stepsToRerun, unitsInDoubt } from "./carry-over.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that runs plans again, as new versions. */
export function createRerun(context: ClientContext): Pick<ClientStore, "rerunPlan"> {
  const { collections, clock, randomBytes, transact } = context;
  const { requests, plans, steps } = collections;

  return {
    async rerunPlan(tenant, requestId, { from, autoExecute }) {
      const catalogue = await readCatalogue(collections);
      // Two reruns at once write to the same request: one of them begins anew, and finds a plan that is not over.
      return transact(async (session): Promise<RerunAnswer> => {
        const request = await requests.findOne({ _id: requestId, tenant }, { session });
        if (!request) return { type: "unknown" };
        const old = await plans.findOne({ _id: request.planId, tenant }, { session });
        if (!old) return { type: "no plan", request };
        const { plan } = old;
        if (plan === null || old.status === "INVALID") return { type: "invalid", request, plan: old };
        if (!isTerminalPlanStatus(old.status)) return { type: "not over", plan: old };
        if (from !== null && !plan.steps.some(({ id }) => id === from)) return { type: "unknown step" };
        const units = await steps
          .find({ tenant, planId: old._id }, { session })
          .sort({ position: 1, item: 1 })
          .toArray();
        const facts = { plan, units, dependents: dependentsOf(plan, catalogue), from };
        const again = stepsToRerun(facts);
        if (again.size === 0 || (from === null && old.status === "COMPLETED"))
          return { type: "nothing failed" };
        const keys = unitsInDoubt(units, again);
        if (keys.length > 0) return { type: "in doubt", keys };

        const now = new Date(clock.now());
        const next: RequestDocument = {
          ...request,
          planId: createPlanId(now.getTime(), randomBytes),
          version: request.version + 1,
          status: autoExecute ? "EXECUTING" : "READY",
          autoExecute,
          updatedAt: now,
        };
        const { raw, origin, diagnostics } = old;
        const status = autoExecute ? "QUEUED" : "READY";
        const fresh = newPlan({ request: next, plan, raw, origin, diagnostics, status, now });
        const carried = carriedUnits(fresh, facts, again);
        const progressSeen = carried.filter(({ finishedAt }) => finishedAt !== null).length;
        const document = { ...fresh, isFresh: false, progressSeen };
        await moveOn(next, session);
        await plans.insertOne(document, { session });
        await steps.insertMany(carried, { session });
        return { type: "rerun", request: next, plan: document };
      });
    },
  };

  async function moveOn(next: RequestDocument, session: ClientSession): Promise<void> {
    const { _id, planId, version, status, autoExecute, updatedAt } = next;
    await requests.updateOne(
      { _id },
      { $set: { planId, version, status, autoExecute, updatedAt } },
      { session },
    );
  }
}

/** Who depends on whom, by the plan and by the contracts of its tools. */
function dependentsOf(
  plan: Plan,
  catalogue: readonly ToolDescriptor[],
): ReadonlyMap<string, readonly string[]> {
  const contracts = new Map(
    plan.steps.flatMap((step) => {
      const name = toolOfStep(step);
      const tool = findTool(catalogue, name);
      return tool ? [[name, toolContract(tool).contract] as const] : [];
    }),
  );
  return planGraph(plan, { contracts }).dependents;
}
