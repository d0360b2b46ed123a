import type { JsonValue, Plan } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { type PlanState, unitsInOrder } from "../journal/plan-units.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { readStepDocuments, withValues } from "../journal/unit-values.ts";
import { readOutputs } from "../outputs/output-store.ts";
import type { OutputRef } from "../records/output-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { PlanningStore } from "./planning-store.ts";

/**
 * Largest output that is read, and maximum of all outputs in plan order, in bytes: a prompt needs little of
 * them.
 */
const MAX_OUTPUT_BYTES = 262_144;
const MAX_OUTPUTS_BYTES = 16_777_216;
const MAX_EARLIER = 20;

/** The part of the store that reads the result of a plan for a planner. */
export function createPlanRecords({
  collections,
  unitReads,
}: StoreDependencies): Pick<PlanningStore, "readPlanRecord"> {
  const { plans } = collections;

  return {
    async readPlanRecord({ request }) {
      const { tenant, _id: requestId, planId } = request;
      const [plan, read, versions] = await Promise.all([
        plans.findOne({ _id: planId, tenant }),
        unitReads.ofPlan(tenant, planId),
        plans
          .find({ tenant, requestId, version: { $lt: request.version } })
          .sort({ version: -1 })
          .limit(MAX_EARLIER)
          .toArray(),
      ]);
      if (!plan || !hasPlan(plan) || plan.status === "INVALID" || !read) return null;
      const { units, outputs, refs } = await readUnits(unitReads, read);
      const separate = await readOutputs(collections, tenant, [...refs.values()]);
      for (const [key, { id }] of refs) {
        const output = separate.get(id);
        if (output !== undefined) outputs.set(key, output);
      }
      const earlier = versions.flatMap((version): Plan[] => (version.plan ? [version.plan] : []));
      return { plan, units, outputs, earlier };
    },
  };
}

/**
 * Units with arguments and errors, and separately the outputs within the limits: all outputs may need too
 * much memory.
 */
async function readUnits({ log }: UnitReads, state: PlanState) {
  const { requestId } = state.outline;
  const refs = new Map<string, OutputRef>();
  let room = MAX_OUTPUTS_BYTES;
  const fitting = [...unitsInOrder(state)].flatMap(({ unit }) => {
    const sizeBytes = unit?.outputRef?.sizeBytes ?? unit?.outputBytes;
    if (unit?.status !== "COMPLETED" || sizeBytes === undefined) return [];
    if (sizeBytes > Math.min(room, MAX_OUTPUT_BYTES)) return [];
    room -= sizeBytes;
    if (unit.outputRef) refs.set(unit.key, unit.outputRef);
    return unit.outputRef ? [] : [{ requestId, unit }];
  });
  const [units, withOutputs] = await Promise.all([
    readStepDocuments(log, state, { body: true }),
    withValues(log, fitting, { output: true }),
  ]);
  return {
    units,
    outputs: new Map<string, JsonValue>(withOutputs.map(({ key, output = null }) => [key, output])),
    refs,
  };
}

function hasPlan(document: PlanDocument): document is PlanDocument & { plan: Plan } {
  return document.plan !== null;
}
