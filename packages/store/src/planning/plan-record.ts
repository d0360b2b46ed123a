import type { JsonValue, Plan } from "@planwright/plan";
import type { PlanDocument } from "../documents.ts";
import { readOutputs } from "../outputs/output-store.ts";
import { outputRefsOf } from "../step-record.ts";
import type { PlanningStore } from "../store.ts";
import type { PlanningContext } from "./context.ts";

/** Outputs that are larger are not read: a prompt holds little of them. In bytes. */
const MAX_OUTPUT_BYTES = 262_144;
const MAX_EARLIER = 20;

/** The part of the store that tells a planner what became of a plan. */
export function createPlanRecords({ collections }: PlanningContext): Pick<PlanningStore, "readPlanRecord"> {
  const { plans, steps } = collections;

  return {
    async readPlanRecord({ request }) {
      const { tenant, _id: requestId, planId } = request;
      const [plan, units, versions] = await Promise.all([
        plans.findOne({ _id: planId, tenant }),
        steps.find({ tenant, planId }).sort({ position: 1, item: 1 }).toArray(),
        plans
          .find({ tenant, requestId, version: { $lt: request.version } })
          .sort({ version: -1 })
          .limit(MAX_EARLIER)
          .toArray(),
      ]);
      if (!plan || !hasPlan(plan) || plan.status === "INVALID") return null;
      const refs = outputRefsOf(units).filter(({ sizeBytes }) => sizeBytes <= MAX_OUTPUT_BYTES);
      const aside = await readOutputs(collections, tenant, refs);
      const outputs = new Map<string, JsonValue>();
      for (const { key, status, output, outputRef } of units) {
        const value = outputRef ? aside.get(outputRef.id) : output;
        if (status === "COMPLETED" && value !== undefined) outputs.set(key, value);
      }
      const earlier = versions.flatMap((version): Plan[] => (version.plan ? [version.plan] : []));
      return { plan, units, outputs, earlier };
    },
  };
}

function hasPlan(document: PlanDocument): document is PlanDocument & { plan: Plan } {
  return document.plan !== null;
}
