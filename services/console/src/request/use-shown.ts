import type { ApiProblem } from "../data/api-problem.ts";
import { type RequestFacts } from "../data/request-facts.ts";
import { READ_PLAN, READ_VERSIONS } from "../data/request-operations.ts";
import type { ShownPlan, Versions } from "../data/shown-plan.ts";
import { useRead } from "../data/use-read.ts";
import type { RequestPlace } from "./paths.ts";
import { useMoment } from "./use-moment.ts";

/** The part of a request that is shown. */
export interface Shown {
  plan: ShownPlan | null;
  /** The version of the plan. */
  version: number;
  versions: Versions;
  /** True for the current version at the current moment. */
  isNow: boolean;
  /** The shown moment, in milliseconds; null: now. */
  atMs: number | null;
  problem: ApiProblem | null;
}

/**
 * The shown plan: the current one, which is followed, an earlier version, or the plan of an earlier moment.
 */
export function useShown(request: RequestFacts | null, { requestId, version, at }: RequestPlace): Shown {
  const { versions, plan: chosen, problem } = useVersion(request, version);
  const { moment, problem: momentProblem } = useMoment(requestId, at);
  if (at !== null)
    return {
      plan: moment?.plan ?? null,
      version: moment?.plan?.version ?? request?.version ?? 1,
      versions,
      isNow: false,
      atMs: moment?.atMs ?? null,
      problem: momentProblem,
    };
  const isNow = version === null || version === request?.version;
  const plan = isNow ? (request?.plan ?? null) : chosen;
  return { plan, version: version ?? request?.version ?? 1, versions, isNow, atMs: null, problem };
}

/** The versions of a request, and the plan of an earlier one. It never changes, so it is read once. */
function useVersion(request: RequestFacts | null, version: number | null) {
  const isCurrent = version === null || version === request?.version;
  const hasOthers = (request?.version ?? 1) > 1;
  const list = useRead(
    READ_VERSIONS,
    request && hasOthers ? { requestId: request.requestId } : null,
    `${request?.version} ${request?.plan?.status}`,
  );
  const versions = list.data?.request?.plansConnection.nodes ?? [];
  const planId = versions.find((other) => other.version === version)?.planId;
  const { data, problem } = useRead(READ_PLAN, isCurrent || planId === undefined ? null : { planId });
  return { plan: data?.plan ?? null, versions, problem: list.problem ?? problem };
}
