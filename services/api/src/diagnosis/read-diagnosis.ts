import type { PlanId } from "@planwright/plan";
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
import { type StepView, stepViews } from "../plans/step-views.ts";
import { planWaitReason, requestWaitReason } from "../plans/wait-reason.ts";
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
      planningStartedAt: planning.startedAt,
      planningFinishedAt: planning.finishedAt,
      plan,
      better,
    },
    tools,
    leftOut,
    serviceLimits: dependencies.modelLimits,
    nowMs,
  });
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
    waitReason: planWaitReason(head, live),
    lostExecutors: lostExecutors(head, live),
    document: graph?.plan ?? null,
    itemCounts,
    steps: await Promise.all(views.map((view) => stepFact(view, head, dependencies))),
  };
}

/** The current holder of a plan is not lost, so its claim does not count. */
function lostExecutors({ lease, claims }: PlanHead, { owners }: LiveWorkers): number {
  if (lease === null) return 0;
  return owners.has(lease.owner) ? claims - 1 : claims;
}

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
  head: PlanHead,
  { reads }: DiagnosisDependencies,
): Promise<StepFact> {
  const body = needsBody(recorded, head) ? await reads.stepBody(recorded) : null;
  return {
    ...recorded,
    id: recorded.stepId,
    waitReason: typeof waitReason === "function" ? await waitReason() : waitReason,
    attempts: body?.attempts ?? [],
    resolvedArguments: body?.arguments ?? null,
  };
}
