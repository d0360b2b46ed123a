import { outlineOf, stepRuns } from "@planwright/engine";
import {
  catalogueOfPlan,
  createPlanId,
  createToolIndex,
  isTerminalPlanStatus,
  pinsByTool,
  pinTools,
  type RequestId,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import {
  type ArgumentChange,
  askForRepeats,
  carriedUnits,
  changeArguments,
  dependentsOf,
  type RepeatedCall,
  refusedChange,
  repeatsOf,
  stepsToRerun,
  unitsInDoubt,
} from "../plans/carry-over.ts";
import { parkedFor } from "../plans/plan-end.ts";
import { nextVersionTurn } from "../plans/version-turn.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { readCatalogue } from "../tools/tool-store.ts";
import type { RepeatOptions, RerunAnswer } from "./change-request.ts";
import {
  type ChangeDecision,
  type ChangedRequest,
  changeRequest,
  isOtherVersion,
  versionEntry,
} from "./change-request.ts";

/** The part of the store that runs plans again, as new versions. */
export function createRerun(context: StoreDependencies) {
  const { collections } = context;

  return {
    /**
     * Makes a new version of a plan that has ended, under its request. Steps that did not complete run again;
     * with `from` also that step and all steps that depend on it. Every other step is carried over with its
     * output and is never called again. Of several simultaneous reruns one makes a version. Steps that did
     * not complete may get other arguments, if none of their calls can have acted. A sentence whose planning
     * failed is planned again instead, with the answers of its user: nothing of it was executed.
     * @throws {IdempotencyKeyReusedError} when the key was used for something else
     */
    async rerunPlan(
      tenant: string,
      requestId: RequestId,
      options: RepeatOptions & {
        from: string | null;
        changes?: readonly ArgumentChange[] | undefined;
        /** Only returns the answer; nothing is stored. Default false. */
        dryRun?: boolean | undefined;
      },
    ): Promise<RerunAnswer> {
      const { from, fromVersion, autoExecute, by = "api", changes = [], idempotency, dryRun } = options;
      const accepted = new Set(options.acceptRepeat);
      const index = createToolIndex(await readCatalogue(collections));
      const decide = ({ request, plan: old, state }: ChangedRequest): RerunDecision => {
        if (isOtherVersion(request, fromVersion)) return no({ type: "other version", request });
        const isPlain = from === null && changes.length === 0 && accepted.size === 0;
        if (isPlain && canPlanAgain(request, old))
          return dryRun ? no({ type: "planning", request }) : plannedAgain(context, request, old, options);
        if (!old || request.status === "PLANNING") return no({ type: "no plan", request });
        if (old.plan === null || old.status === "INVALID") return no({ type: "invalid", request, plan: old });
        if (!isTerminalPlanStatus(old.status)) return no({ type: "not ended", plan: old });
        const ids = new Set<string>(old.plan.steps.map(({ id }) => id));
        const unknown = [...(from === null ? [] : [from]), ...accepted].find((id) => !ids.has(id));
        if (unknown !== undefined) return no({ type: "unknown step", stepId: unknown });
        const folded = state.plans.get(old._id);
        const units = stepRuns({ outline: outlineOf(old), plan: folded });
        const tools = catalogueOfPlan(old.plan, index, pinsByTool(old.toolPins));
        const changed =
          changes.length === 0
            ? { ok: true as const, plan: old.plan, diagnostics: [] }
            : changeArguments(old.plan, changes, { tools, request: request.query ?? undefined });
        const plan = changed.ok ? changed.plan : old.plan;
        const resolutions = folded?.resolutions ?? [];
        const facts = { plan, units, resolutions, dependents: dependentsOf(plan, tools), from };
        const toRerun = stepsToRerun(facts);
        const { again } = toRerun;
        const refusal = refusedChange(plan, facts, changes, accepted);
        if (refusal && refusal.type !== "may have acted") return no(refusal);
        if (again.size === 0 || (from === null && old.status === "COMPLETED"))
          return no({ type: "nothing failed" });
        const keys = unitsInDoubt(units, toRerun);
        if (keys.length > 0) return no({ type: "in doubt", keys });
        if (refusal) return no(refusal);
        const other = new Set(changes.map(({ stepId }) => stepId));
        const repeats = repeatsOf(units, { ...toRerun, from, changed: other });
        const isAccepted = ({ key, hasOtherArguments }: RepeatedCall): boolean =>
          hasOtherArguments || accepted.has(key.replace(/\[\d+\]$/, ""));
        const toAccept = repeats.filter((repeat) => !isAccepted(repeat)).map(({ key }) => key);
        if (toAccept.length > 0) return no({ type: "repeat not accepted", keys: toAccept });
        if (!changed.ok)
          return no({ type: "invalid arguments", plan: old, diagnostics: changed.diagnostics });

        const { raw, origin } = old;
        const next = nextVersionTurn(context, {
          request,
          before: old,
          autoExecute,
          plan: askForRepeats(plan, units, toRerun, accepted, tools),
          // Tools that have changed since are pinned as they are now: the caller wants the current ones.
          toolPins: pinTools(plan, index.tools, old.toolPins),
          raw,
          origin,
          diagnostics: [...old.diagnostics, ...changed.diagnostics],
          unitsOf: (fresh) => ({ units: carriedUnits(fresh, facts, toRerun), moved: [] }),
          repeats,
          accepted,
        });
        const rerun = { type: "rerun" as const, request: next.request, plan: next.document };
        return dryRun ? no(rerun) : versionEntry(next, by, rerun);
      };
      const asked = { tenant, requestId, operation: "rerun", idempotency, decide };
      const answer = await changeRequest<RerunAnswer, Rerun | Planning>(context, asked);
      if (answer?.type !== "planning" || dryRun) return answer ?? { type: "unknown" };
      const request = await collections.requests.findOne({ _id: requestId, tenant });
      return request ? { type: "planning", request } : { type: "unknown" };
    },
  };
}

type Rerun = Extract<RerunAnswer, { type: "rerun" }>;
type Planning = Extract<RerunAnswer, { type: "planning" }>;
type RerunDecision = ChangeDecision<RerunAnswer, Rerun | Planning>;

/** True for a sentence whose planning has failed: nothing of it was executed. */
function canPlanAgain({ source, status }: RequestDocument, plan: PlanDocument | null): boolean {
  return source === "query" && status === "FAILED" && (plan === null || plan.status === "INVALID");
}

/**
 * The entry by which a client gives such a sentence to a planner again, with its answers. An answer that could
 * not be used keeps its version: the next plan is another one.
 */
function plannedAgain(
  { clock, randomBytes }: StoreDependencies,
  request: RequestDocument,
  old: PlanDocument | null,
  options: { autoExecute: boolean; by?: string | undefined },
): RerunDecision {
  const { _id, version } = request;
  const now = new Date(clock.now());
  // A sentence that was only to be planned is not executed.
  const execute = request.autoExecute && options.autoExecute;
  const marks = {
    ...parkedFor("plan", now),
    ...(old && { version: version + 1, planId: createPlanId(now.getTime(), randomBytes) }),
    status: "PLANNING" as const,
    autoExecute: execute,
    updatedAt: now,
  };
  return {
    type: "append",
    events: [{ type: "replan.asked", note: null, execute }],
    by: options.by ?? "api",
    following: () => [
      { collection: "requests", id: _id, condition: { version, status: "FAILED" }, set: marks },
    ],
    changed: { type: "planning", request },
  };
}

function no(answer: RerunAnswer): RerunDecision {
  return { type: "answer", answer };
}
