import type { PlanId, RequestId } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { createTenantReads } from "../database/read-group.ts";
import { IN_ONE_BATCH } from "../database/read-lists.ts";
import { withDecisions } from "../heads/pending-controls.ts";
import { toStepDocument, toStepHead, unitAt, unitsInOrder } from "../journal/plan-units.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { type WantedValues, withValues } from "../journal/unit-values.ts";
import {
  type HeadReads,
  MODEL_CALL_HEAD,
  type ModelCallHead,
  PARTS,
  PLAN_HEAD,
  type PlanResults,
  type StepHead,
  type StoredPlanHead,
} from "../records/document-heads.ts";
import type { StepDocument } from "../records/step-document.ts";

/** The part of the store that reads documents without large values, and these values separately. */
export function createHeadReads(
  { plans, modelCalls }: Pick<Collections, "plans" | "modelCalls">,
  unitReads: UnitReads,
): HeadReads {
  // Polling clients read these: many clients of one request cost MongoDB one read.
  const planHead = createTenantReads(
    async (tenant, ids: PlanId[]) => {
      const match = { $match: { _id: { $in: ids }, tenant } };
      return withDecisions(
        unitReads,
        await plans.aggregate<StoredPlanHead>([match, ...PLAN_HEAD], IN_ONE_BATCH).toArray(),
      );
    },
    ({ _id }) => _id,
  );

  const planResults = createTenantReads(
    partsOf<PlanResults, PlanId>(plans, PARTS.planResults),
    ({ _id }) => _id,
  );

  async function headsOf(tenant: string, planId: PlanId): Promise<StepHead[]> {
    const read = await unitReads.ofPlan(tenant, planId);
    if (!read) return [];
    return [...unitsInOrder(read)].map((placed) => toStepHead(read.outline, placed));
  }

  /** Units by the ids of their documents, with the wanted values. */
  async function unitsById(
    tenant: string,
    ids: readonly string[],
    wanted: WantedValues,
  ): Promise<StepDocument[]> {
    const found = await Promise.all(
      ids.map(async (id) => {
        const [planId = "", key = ""] = id.split("/", 2);
        // The id is not checked: an unknown one finds nothing.
        const read = await unitReads.ofPlan(tenant, planId as PlanId);
        const placed = read && unitAt(read, key);
        return read && placed ? { outline: read.outline, placed } : undefined;
      }),
    );
    const all = found.filter((one) => one !== undefined);
    const withEvents = all.flatMap(({ outline: { requestId }, placed: { unit } }) =>
      unit ? [{ requestId, unit }] : [],
    );
    const filled = await withValues(unitReads.log, withEvents, wanted);
    let next = 0;
    return all.map(({ outline, placed }) =>
      toStepDocument(outline, placed.unit ? { ...placed, unit: filled[next++] } : placed),
    );
  }

  /** Parts of documents by their ids. */
  function partsOf<Part extends Document, Id extends string = string>(
    collection: Pick<Collection, "aggregate">,
    projection: Document,
  ) {
    return (tenant: string, ids: readonly Id[]): Promise<Part[]> =>
      collection
        .aggregate<Part>(
          [{ $match: { _id: { $in: [...ids] }, tenant } }, { $project: projection }],
          IN_ONE_BATCH,
        )
        .toArray();
  }

  return {
    getPlanHeads: (tenant, planIds) =>
      Promise.all(planIds.map(async (id) => (await planHead({ tenant, id }))[0] ?? null)),
    listPlanHeadsOf: async (tenant, requestIds) =>
      withDecisions(
        unitReads,
        await plans
          .aggregate<StoredPlanHead>(
            [
              { $match: { tenant, requestId: { $in: [...requestIds] } } },
              { $sort: { requestId: 1, version: -1 } },
              ...PLAN_HEAD,
            ],
            IN_ONE_BATCH,
          )
          .toArray(),
      ),
    readPlanGraphs: partsOf(plans, PARTS.planGraph),
    readPlanTexts: partsOf(plans, PARTS.planTexts),
    // Clients wait for the results of plans: plans that end together share one read.
    readPlanResults: async (tenant, planIds) =>
      (await Promise.all(planIds.map((id) => planResults({ tenant, id })))).flat(),
    listStepHeads: async (tenant, planIds) =>
      (await Promise.all(planIds.map((id) => headsOf(tenant, id)))).flat(),
    async getStepHead(tenant, planId, key) {
      const read = await unitReads.ofPlan(tenant, planId);
      const placed = read && unitAt(read, key);
      return read && placed ? toStepHead(read.outline, placed) : null;
    },
    readStepBodies: (tenant, ids) => unitsById(tenant, ids, { body: true }),
    readStepOutputs: (tenant, ids) => unitsById(tenant, ids, { output: true }),
    async countStepStatuses(tenant, planIds) {
      const all = await Promise.all(planIds.map((id) => unitReads.ofPlan(tenant, id)));
      return all.flatMap((read) => {
        const counts = new Map<StepHead["status"], number>();
        for (const { id } of read?.outline.steps ?? []) {
          const status = read?.plan?.units.get(id)?.status ?? "PENDING";
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
        return read
          ? [...counts].map(([status, count]) => ({ planId: read.outline._id, status, count }))
          : [];
      });
    },
    listModelCallHeadsOf: (tenant, requestIds: readonly RequestId[]) =>
      modelCalls
        .aggregate<ModelCallHead>(
          [
            { $match: { tenant, requestId: { $in: [...requestIds] } } },
            // The order of the index.
            { $sort: { requestId: 1, createdAt: 1 } },
            ...MODEL_CALL_HEAD,
          ],
          IN_ONE_BATCH,
        )
        .toArray(),
    readModelCallTexts: partsOf(modelCalls, PARTS.modelCallTexts),
  };
}
