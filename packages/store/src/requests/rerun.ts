import {
  catalogueOfPlan,
  createPlanId,
  createToolIndex,
  type Diagnostic,
  isForEachStep,
  isTerminalPlanStatus,
  type JsonObject,
  type Plan,
  parsePlan,
  pinsByTool,
  pinTools,
  planGraph,
  type RequestId,
  type Step,
  type ToolDescriptor,
  toolContract,
  toolOfStep,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import {
  carriedVersion,
  type RepeatedCall,
  refusedChange,
  rerunRepeats,
  rerunSteps,
  unitsInDoubt,
  unitsOfVersion,
  withApprovals,
} from "../plans/carry-over.ts";
import { versionsOf } from "../plans/earlier-calls.ts";
import { parkedFor } from "../plans/plan-end.ts";
import { nextVersionTurn } from "../plans/version-turn.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { readCatalogue } from "../tools/tool-store.ts";
import type { RepeatOptions, RerunAnswer } from "./change-request.ts";
import {
  type ChangeDecision,
  changeRequest,
  isOtherVersion,
  type RequestNow,
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
      const decide = ({ request, plan: old, state }: RequestNow): RerunDecision => {
        if (isOtherVersion(request, fromVersion)) return { type: "other version", request };
        const isPlain = from === null && changes.length === 0 && accepted.size === 0;
        if (isPlain && canPlanAgain(request, old))
          return dryRun ? { type: "planning", request } : plannedAgain(context, request, old, options);
        if (!old || request.status === "PLANNING") return { type: "no plan", request };
        if (old.plan === null || old.status === "INVALID") return { type: "invalid", request, plan: old };
        if (!isTerminalPlanStatus(old.status)) return { type: "not ended", plan: old };
        const ids = new Set<string>(old.plan.steps.map(({ id }) => id));
        const unknown = [...(from === null ? [] : [from]), ...accepted].find((id) => !ids.has(id));
        if (unknown !== undefined) return { type: "unknown step", stepId: unknown };
        const [before] = versionsOf([old], state);
        if (!before) return { type: "no plan", request };
        const units = unitsOfVersion(before);
        const tools = catalogueOfPlan(old.plan, index, pinsByTool(old.toolPins));
        const changed =
          changes.length === 0
            ? { ok: true as const, plan: old.plan, diagnostics: [] }
            : changeArguments(old.plan, changes, { tools, request: request.query ?? undefined });
        const plan = changed.ok ? changed.plan : old.plan;
        const facts = { plan, before, units, dependents: dependentsOf(plan, tools), from };
        const steps = rerunSteps(facts);
        const { again } = steps;
        const refusal = refusedChange(plan, facts, changes, accepted);
        if (refusal && refusal.type !== "may have acted") return refusal;
        if (again.size === 0 || (from === null && old.status === "COMPLETED"))
          return { type: "nothing failed" };
        const keys = unitsInDoubt(units, steps);
        if (keys.length > 0) return { type: "in doubt", keys };
        if (refusal) return refusal;
        const other = new Set(changes.map(({ stepId }) => stepId));
        const repeats = rerunRepeats(facts, steps, other);
        const isAccepted = ({ key, hasOtherArguments }: RepeatedCall): boolean =>
          hasOtherArguments || accepted.has(key.replace(/\[\d+\]$/, ""));
        const toAccept = repeats.filter((repeat) => !isAccepted(repeat)).map(({ key }) => key);
        if (toAccept.length > 0) return { type: "repeat not accepted", keys: toAccept };
        if (!changed.ok) return { type: "invalid arguments", plan: old, diagnostics: changed.diagnostics };

        const { raw, origin } = old;
        const next = nextVersionTurn(context, {
          request,
          before: old,
          autoExecute,
          plan: withApprovals(plan, steps.implied, accepted, tools),
          // Tools that have changed since are pinned as they are now: the caller wants the current ones.
          toolPins: pinTools(plan, index.tools, old.toolPins),
          raw,
          origin,
          diagnostics: [...old.diagnostics, ...changed.diagnostics],
          content: carriedVersion({ plan, versions: [before] }, steps),
          repeats,
          accepted,
        });
        const rerun = { type: "rerun" as const, request: next.request, plan: next.document };
        return dryRun ? rerun : versionEntry(next, by, rerun);
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
    events: [{ type: "replan.asked", note: null, execute }],
    by: options.by ?? "api",
    following: [{ collection: "requests", id: _id, condition: { version, status: "FAILED" }, set: marks }],
    changed: { type: "planning", request },
  };
}

/** New arguments for one step of a rerun; arguments that are not named are kept. */
export interface ArgumentChange {
  stepId: string;
  /** Values by name; for a list, for each of its calls. */
  set: JsonObject;
}

type ChangedPlan =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * A plan in which these steps have other arguments, checked against the catalogue like a submitted plan. All
 * other steps are unchanged. Pure.
 * @param options - the catalogue with the names of the plan, and the sentence that the plan was made for
 */
function changeArguments(
  plan: Plan,
  changes: readonly ArgumentChange[],
  options: { tools: readonly ToolDescriptor[]; request?: string | undefined },
): ChangedPlan {
  const sets = new Map(changes.map(({ stepId, set }) => [stepId, set]));
  const steps = plan.steps.map((step) => withArguments(step, sets.get(step.id)));
  const read = parsePlan({ ...plan, steps }, options);
  if (!read.ok) return read;
  const changed = new Map(read.plan.steps.map((step) => [step.id, step]));
  return {
    ok: true,
    plan: {
      ...plan,
      steps: plan.steps.map((step) => (sets.has(step.id) ? (changed.get(step.id) ?? step) : step)),
    },
    diagnostics: read.diagnostics.filter(({ stepId }) => stepId !== undefined && sets.has(stepId)),
  };
}

function withArguments(step: Step, set: JsonObject | undefined): Step {
  if (!set) return step;
  if (!isForEachStep(step)) return { ...step, arguments: { ...step.arguments, ...set } };
  const { forEach } = step;
  return {
    ...step,
    forEach: { ...forEach, do: { ...forEach.do, arguments: { ...forEach.do.arguments, ...set } } },
  };
}

/**
 * The direct dependents of each step, by the plan and by the contracts of its tools. Pure.
 * @param catalogue - with the names of the plan: see `catalogueOfPlan`
 */
function dependentsOf(
  plan: Plan,
  catalogue: readonly ToolDescriptor[],
): ReadonlyMap<string, readonly string[]> {
  const index = createToolIndex(catalogue);
  const contracts = new Map(
    [...new Set(plan.steps.map(toolOfStep))].flatMap((name) => {
      const tool = index.find(name);
      if (!tool) return [];
      const dependsOn = toolContract(tool).contract.dependsOn.map((dependency) => ({
        ...dependency,
        tool: index.findRelated(tool, dependency.tool)?.name ?? dependency.tool,
      }));
      return [[name, { dependsOn }] as const];
    }),
  );
  return planGraph(plan, { contracts }).dependents;
}
