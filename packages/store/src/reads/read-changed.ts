import type { PlanId, RequestId } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { IN_ONE_BATCH, listsById } from "../database/read-lists.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { withDecisions } from "../plans/pending-controls.ts";
import {
  PLAN_HEAD,
  type PlanHead,
  type StoredPlanHead,
  type VersionFacts,
} from "../records/document-heads.ts";
import type { RequestDocument } from "../records/request-document.ts";

/** A request that has changed, at one moment. */
export interface ChangedRequest {
  request: RequestDocument;
  /** Its current plan; null until it has been made. */
  plan: PlanHead | null;
  /** All versions of its plan, if they were asked for. */
  versions: VersionFacts[];
}

/** The parts of {@link ChangedRequest} to read. */
export interface ChangedWanted {
  /** Requests of other tenants are left out. */
  tenants: readonly string[];
  /** With their versions. */
  versions: boolean;
}

/**
 * Requests of many tenants by their ids or the ids of their plans: at most four reads, all by index, for any
 * number of ids, and two for each tenant whose plans have decisions of operators.
 * @param ids - as a watch reports them; missing ones are left out
 */
export async function readChanged(
  { requests, plans }: Pick<Collections, "requests" | "plans">,
  unitReads: Pick<UnitReads, "ofPlan">,
  ids: readonly string[],
  { tenants, versions }: ChangedWanted,
): Promise<ChangedRequest[]> {
  const isOfPlan = (id: string): id is PlanId => id.startsWith("plan_");
  const ofTenants = { tenant: { $in: [...tenants] } };
  const planIds = ids.filter(isOfPlan);
  const named =
    planIds.length === 0
      ? []
      : await plans
          .find({ _id: { $in: planIds }, ...ofTenants }, { projection: { requestId: 1 }, ...IN_ONE_BATCH })
          .toArray();
  // An id that is not of a plan is of a request.
  const own = ids.filter((id) => !isOfPlan(id)) as RequestId[];
  const requestIds = [...new Set([...own, ...named.map(({ requestId }) => requestId)])];
  if (requestIds.length === 0) return [];
  const found = await requests
    .find({ _id: { $in: requestIds }, ...ofTenants }, { projection: { draft: 0 }, ...IN_ONE_BATCH })
    .toArray();
  if (found.length === 0) return [];
  // After the requests: a request that has ended has a plan that has ended.
  const [heads, facts] = await Promise.all([
    plans
      .aggregate<StoredPlanHead>(
        [{ $match: { _id: { $in: found.map(({ planId }) => planId) } } }, ...PLAN_HEAD],
        IN_ONE_BATCH,
      )
      .toArray(),
    versions ? readVersions(found) : [],
  ]);
  const headOf = new Map((await withDecisions(unitReads, heads)).map((head) => [head._id, head]));
  const factsOf = listsById(
    found.map(({ _id }) => _id),
    facts,
    ({ requestId }) => requestId,
  );
  return found.map((request) => ({
    request,
    plan: headOf.get(request.planId) ?? null,
    versions: factsOf.get(request._id) ?? [],
  }));

  function readVersions(of: readonly RequestDocument[]): Promise<VersionFacts[]> {
    return plans
      .aggregate<VersionFacts>(
        [
          { $match: { ...ofTenants, requestId: { $in: of.map(({ _id }) => _id) } } },
          {
            $project: {
              _id: 0,
              requestId: 1,
              tools: { $setUnion: [listAt("plan.steps.tool"), listAt("plan.steps.forEach.do.tool")] },
              errorCode: { $ifNull: ["$error.code", null] },
              needs: listAt("needs"),
            },
          },
        ],
        IN_ONE_BATCH,
      )
      .toArray();
  }
}

function listAt(path: string): object {
  return { $ifNull: [`$${path}`, []] };
}
