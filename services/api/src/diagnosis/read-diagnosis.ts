import { isTerminalStepStatus, type PlanId, STEP_LIFECYCLE, statusesWhere } from "@planwright/plan";
import type {
  DiagnosedUnits,
  LiveWorkers,
  ModelLimits,
  PlanGraph,
  PlanHead,
  RequestDocument,
  StepBody,
  StepHead,
} from "@planwright/store";
import { attemptsSeen, type StepView, stepViews } from "../plans/step-views.ts";
import { planWaitReason, requestWaitReason, shownDeadlineOf } from "../plans/wait-reason.ts";
import type { KnownTools } from "../tools/known-tools.ts";
import { betterVersion } from "./better-version.ts";
import { diagnose } from "./diagnose.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { type ModelPause, needsBody, type PlanFact, type StepFact, type VersionFact } from "./facts.ts";

/**
 * Dependencies of {@link readDiagnosis}, limited to the caller's tenant and counted as part of the answer.
 */
export interface DiagnosisDependencies {
  reads: {
    plan(planId: PlanId): Promise<PlanHead | null>;
    graph(planId: PlanId): Promise<PlanGraph | null>;
    plansOf(request: RequestDocument): Promise<PlanHead[]>;
    diagnosedUnits(planId: PlanId): Promise<DiagnosedUnits<StepHead>>;
    stepBody(step: StepHead): Promise<StepBody | null>;
  };
  knownTools: KnownTools;
  tenant: string;
  /** Limits of model calls that no request may exceed. Absent: none. */
  modelLimits?: ModelLimits | undefined;
  nowMs: number;
  liveWorkers(): Promise<LiveWorkers>;
  /** Until when planning for a tenant waits; null: it does not. Absent: it never does. */
  modelPause?: ((tenant: string) => Promise<ModelPause | null>) | undefined;
}

/** Reads the records of a request, and diagnoses it. Attempts and arguments are read only for few steps. */
export async function readDiagnosis(
  request: RequestDocument,
  dependencies: DiagnosisDependencies,
): Promise<Diagnosis> {
  const { knownTools, tenant, nowMs } = dependencies;
  const [live, plan, { tools, leftOut }] = await Promise.all([
    dependencies.liveWorkers(),
    readPlan(request.planId, dependencies),
    knownTools.ask(
      tenant,
      (known, left) => ({ tools: known, leftOut: left }),
      () => true,
    ),
  ]);
  const better = plan?.finishedAt ? await readBetter(request, dependencies) : null;
  const { planning, questions, ...recorded } = request;
  const waitReason = requestWaitReason(request, live);
  const modelPause = waitReason === "limit" ? await dependencies.modelPause?.(tenant) : null;
  return diagnose({
    request: {
      ...recorded,
      requestId: request._id,
      questions: questions.map(({ question }) => question),
      waitReason,
      modelPause: modelPause ?? null,
      // Until the last answer a person was waited for.
      planningStartedAt: latest(planning.startedAt, request.answers.at(-1)?.at ?? null),
      planningFinishedAt: planning.finishedAt,
      modelWait: planning.wait ?? null,
      plan,
      better,
    },
    tools,
    leftOut,
    serviceLimits: dependencies.modelLimits,
    nowMs,
  });
}

function latest(a: Date | null, b: Date | null): Date | null {
  return a && b ? new Date(Math.max(a.getTime(), b.getTime())) : (a ?? b);
}

async function readPlan(planId: PlanId, dependencies: DiagnosisDependencies): Promise<PlanFact | null> {
  const { reads } = dependencies;
  const head = await reads.plan(planId);
  if (!head) return null;
  const [live, graph, { units, itemCounts }] = await Promise.all([
    dependencies.liveWorkers(),
    reads.graph(planId),
    reads.diagnosedUnits(planId),
  ]);
  const views = graph ? stepViews({ ...head, ...graph }, units, live) : [];
  return {
    ...head,
    planId,
    deadlineAt: shownDeadlineOf(head),
    waitReason: planWaitReason(head, live),
    lostExecutors: lostExecutors(head, finishedUnits(units, itemCounts), live),
    document: graph?.plan ?? null,
    toolPins: graph?.toolPins,
    itemCounts,
    steps: await Promise.all(views.map((view) => stepFact(view, { ...head, live }, dependencies))),
  };
}

/**
 * How many executors in a row held a plan and did not give it back, since a step or item last ended. The current
 * holder is one of them if it is not alive. Pure.
 * @param finished - number of units that have ended by now
 */
export function lostExecutors(
  { lease, claims, progressSeen, lostAtProgress = 0 }: LeasedPlan,
  finished: number,
  { owners }: Pick<LiveWorkers, "owners">,
): number {
  if (lease === null) return 0;
  const holder = owners.has(lease.owner) ? 0 : 1;
  // The current holder has made progress, so the plan did not kill it at the same place.
  if (finished > progressSeen) return holder;
  return Math.max(0, lostAtProgress + claims - 1) + holder;
}

/** The part of a plan's document that counts its owners. */
type LeasedPlan = Pick<PlanHead, "lease" | "claims" | "progressSeen" | "lostAtProgress">;

/** Number of steps and items that have ended. */
function finishedUnits(
  units: readonly Pick<StepHead, "item" | "status">[],
  itemCounts: DiagnosedUnits<StepHead>["itemCounts"],
): number {
  const steps = units.filter(({ item, status }) => item === null && isTerminalStepStatus(status)).length;
  const items = [...itemCounts.values()].flatMap((counts) =>
    TERMINAL_STEP_STATUSES.map((status) => counts[status] ?? 0),
  );
  return items.reduce((sum, count) => sum + count, steps);
}

const TERMINAL_STEP_STATUSES = statusesWhere(STEP_LIFECYCLE, ({ moves }) => moves.length === 0);

/** The earlier version that did better than the current one, unless it has the same plan, like a rerun. */
async function readBetter(
  request: RequestDocument,
  { reads }: DiagnosisDependencies,
): Promise<VersionFact | null> {
  if (request.version === 1 || request.status === "COMPLETED") return null;
  const [current, ...earlier] = (await reads.plansOf(request)).map(toVersion);
  if (!current) return null;
  const better = betterVersion(
    current,
    earlier.filter(({ hasEnded }) => hasEnded),
  );
  if (!better) return null;
  const [now, before] = await Promise.all([current, better].map(({ planId }) => reads.graph(planId)));
  return JSON.stringify(now?.plan?.steps) === JSON.stringify(before?.plan?.steps) ? null : better;
}

function toVersion({ _id: planId, version, steps, counts }: PlanHead) {
  return { planId, version, steps, completed: counts?.COMPLETED ?? 0, hasEnded: counts !== null };
}

async function stepFact(
  { recorded, waitReason }: StepView,
  { live, ...head }: PlanHead & { live: LiveWorkers },
  { reads }: DiagnosisDependencies,
): Promise<StepFact> {
  const body = needsBody(recorded, head) ? await reads.stepBody(recorded) : null;
  return {
    ...recorded,
    id: recorded.stepId,
    waitReason: typeof waitReason === "function" ? await waitReason() : waitReason,
    attempts: attemptsSeen(body?.attempts ?? [], live),
    resolvedArguments: body?.arguments ?? null,
  };
}
