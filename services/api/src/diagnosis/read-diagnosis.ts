import type { StepRun } from "@planwright/engine";
import {
  countText,
  durationText,
  isTerminalStepStatus,
  needsPerson,
  type PlanId,
  type PlanningAdvice,
  planNeed,
  planningAdvice,
  STEP_LIFECYCLE,
  statusesWhere,
  UNEXECUTED_REQUEST_STATUSES,
  type WaitReason,
} from "@planwright/plan";
import type {
  DiagnosedUnits,
  LiveWorkers,
  ModelLimits,
  ModelWait,
  PlanGraph,
  PlanHead,
  RequestDocument,
} from "@planwright/store";
import type { KnownTools } from "../operation/context.ts";
import {
  planWaitReason,
  requestWaitReason,
  type ShownStep,
  shownDeadlineOf,
  stepViews,
} from "../plans/step-views.ts";
import { diagnoseEnd } from "./diagnose-end.ts";
import { diagnoseRunning } from "./diagnose-running.ts";
import {
  clipped,
  type Diagnosis,
  type NextAction,
  type PartialDiagnosis,
  problem,
  toDiagnosis,
} from "./diagnosis.ts";
import {
  betterVersion,
  type DiagnosisFacts,
  type ModelPause,
  type PlanFact,
  type RequestFact,
  type StepFact,
  type VersionFact,
} from "./facts.ts";
import {
  act,
  ask,
  follow,
  listTools,
  neededLimits,
  raisedLimits,
  rerun,
  sendAgain,
  submit,
} from "./next-actions.ts";

/**
 * Dependencies of {@link readDiagnosis}, limited to the caller's tenant and counted as part of the answer.
 */
interface DiagnosisDependencies {
  reads: {
    plan(planId: PlanId): Promise<PlanHead | null>;
    graph(planId: PlanId): Promise<PlanGraph | null>;
    plansOf(request: RequestDocument): Promise<PlanHead[]>;
    diagnosedUnits(planId: PlanId): Promise<DiagnosedUnits<StepRun>>;
    withBody(step: StepRun): Promise<StepRun>;
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

/** Errors whose advice depends on the tools of now. */
const ABOUT_TOOLS: ReadonlySet<string> = new Set(["TOOL_CHANGED", "TOOL_NOT_FOUND"]);

/** Reads the records of a request, and diagnoses it. Arguments are read only for open approvals. */
export async function readDiagnosis(
  request: RequestDocument,
  dependencies: DiagnosisDependencies,
): Promise<Diagnosis> {
  const { knownTools, tenant, nowMs } = dependencies;
  const [live, plan] = await Promise.all([
    dependencies.liveWorkers(),
    readPlan(request.planId, dependencies),
  ]);
  // The advice about a tool that is gone or has changed compares it with the plan: with the tools of a moment ago it
  // is wrong.
  const hasChangedTool = plan?.steps.some(({ error }) => ABOUT_TOOLS.has(error?.code ?? "")) ?? false;
  const { tools, leftOut } = await knownTools.ask(
    tenant,
    (known, left) => ({ tools: known, leftOut: left }),
    () => !hasChangedTool,
  );
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
    waitReason: waitReasonOf(head, live),
    lostExecutors: lostExecutors(head, finishedUnits(units, itemCounts), live),
    document: graph?.plan ?? null,
    toolPins: graph?.toolPins,
    itemCounts,
    steps: await Promise.all(views.map((step) => stepFact(step, dependencies))),
  };
}

/** What a plan that was handed back waits for ends by itself, but only an executor continues it then. */
function waitReasonOf(head: PlanHead, live: LiveWorkers): WaitReason | null {
  const isHandedBack = head.status === "WAITING" && !needsPerson(planNeed(head));
  return isHandedBack && live.executor === 0 ? "no worker" : planWaitReason(head, live);
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
  units: readonly Pick<StepRun, "item" | "status">[],
  itemCounts: DiagnosedUnits<StepRun>["itemCounts"],
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

async function stepFact(step: ShownStep, { reads }: DiagnosisDependencies): Promise<StepFact> {
  const { waitsFor } = step;
  const waitReason = typeof waitsFor === "function" ? await waitsFor() : waitsFor;
  const { arguments: args } = step.status === "WAITING_APPROVAL" ? await reads.withBody(step) : step;
  return { ...step, waitReason, arguments: args };
}

const UNEXECUTED: ReadonlySet<string> = new Set(UNEXECUTED_REQUEST_STATUSES);

/** The cause of a request's state, and the next actions. Pure. */
export function diagnose(facts: DiagnosisFacts): Diagnosis {
  const { status, plan } = facts.request;
  if (status === "EXECUTING" && plan) return toDiagnosis(diagnoseRunning(facts, plan));
  const wasStarted = plan !== null && plan.steps.length > 0 && !UNEXECUTED.has(status);
  return toDiagnosis(wasStarted ? diagnoseEnd(facts, plan) : diagnosePlanning(facts));
}

/** The diagnosis of a request whose plan was never started. */
function diagnosePlanning(facts: DiagnosisFacts): PartialDiagnosis {
  const { request } = facts;
  switch (request.status) {
    case "PLANNING":
      if (request.waitReason === "no worker") return noPlanner(facts);
      return request.modelWait ? modelAway(facts, request.modelWait) : planning(facts);
    case "NEEDS_INPUT":
      return inputNeeded(facts);
    case "READY":
      return {
        code: "NOT_STARTED",
        message: "the plan is stored and was not started",
        reasons: ["Its execution was not requested yet."],
        since: request.plan?.createdAt ?? request.planningFinishedAt,
        next: [act(request, "executePlan", "execute", "Start it:")],
      };
    case "EXECUTING":
      return {
        code: "RUNNING",
        message: "nothing is wrong so far: the plan was accepted and is being stored",
        since: request.createdAt,
        next: [follow(request)],
      };
    case "CANCELLED":
      return {
        code: "CANCELLED",
        message: "the request was cancelled before anything was executed",
        since: request.updatedAt,
        next: [
          request.plan
            ? rerun(request, "To run its plan after all:")
            : sendAgain(request, "To request it again:"),
        ],
      };
    default:
      return planningFailed(facts);
  }
}

function noPlanner({ request, nowMs }: DiagnosisFacts): PartialDiagnosis {
  const since = request.createdAt;
  const instruction =
    "Start a planner (npm start, or docker compose up -d planner); nothing is lost meanwhile. Then";
  return {
    code: "NO_PLANNER",
    message: `no planner works on the request, which was accepted ${durationText(nowMs - since.getTime())} ago (no worker)`,
    reasons: ["No planner sent a heartbeat within the last 5 s: none was started, or the last one died."],
    since,
    next: [follow(request, instruction)],
  };
}

function planning({ request, nowMs }: DiagnosisFacts): PartialDiagnosis {
  const since = request.planningStartedAt ?? request.createdAt;
  if (request.modelPause) {
    const { maxPerHour, until } = request.modelPause;
    return {
      code: "PLANNING",
      message: `planning waits: the tenant has made its ${countText(maxPerHour, "model call")} of an hour (limit)`,
      reasons: [
        `It continues by itself at ${until.toISOString()}, when the first of these calls is an hour ago, or when an operator raises the limit of the tenant (keys tenant set, --max-model-calls-per-hour).`,
      ],
      since,
      next: [follow(request)],
    };
  }
  const doing =
    request.waitReason === "limit" ? "it waits for a planner with a free slot" : "the plan is being made";
  return {
    code: "PLANNING",
    message: `nothing is wrong so far: ${doing}, since ${durationText(nowMs - since.getTime())}`,
    since,
    next: [follow(request)],
  };
}

function modelAway(
  { request, nowMs }: DiagnosisFacts,
  { error, since, tries, nextAttemptAt, until }: ModelWait,
): PartialDiagnosis {
  const away = durationText(nowMs - since.getTime());
  const isDue = nextAttemptAt.getTime() <= nowMs;
  const again = isDue ? "at any moment" : `at ${nextAttemptAt.toISOString()}`;
  return {
    code: "MODEL_AWAY",
    message: `planning waits for the model, which has been away since ${since.toISOString()} (${away}): ${problem(error)}`,
    errorCode: error.code,
    reasons: [
      `Tried ${countText(tries, "time")}; it is tried again ${again}, by itself, and given up at ${until.toISOString()} (MODEL_UNREACHABLE_MS of the planner).`,
      "Nothing is lost meanwhile, and no planner is held.",
    ],
    since,
    next: [
      follow(request, planningAdvice(error.code).instruction.replace(/; then$/, "; it continues by itself")),
      act(request, "cancel", "cancel", "Or end it:"),
    ],
  };
}

function inputNeeded({ request, nowMs }: DiagnosisFacts): PartialDiagnosis {
  const since = request.planningFinishedAt;
  const waited = since === null ? "" : `; it has waited for ${durationText(nowMs - since.getTime())}`;
  const instruction =
    "Answer at the terminal, where each question is asked and each answer checked (or pass the answers as arguments, in order):";
  return {
    code: "INPUT_NEEDED",
    message: `the planner needs ${countText(request.questions.length, "answer")} before it can continue${waited}`,
    reasons: request.questions.map((question) => `It asks: ${clipped(question)}`),
    since,
    next: [act(request, "answerQuestions", "answer", instruction)],
  };
}

function planningFailed(facts: DiagnosisFacts): PartialDiagnosis {
  const { request } = facts;
  const errors = request.diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const error = request.error ??
    request.plan?.error ?? { code: "PLAN_INVALID", message: "the plan is invalid" };
  const advice = planningAdvice(error.code);
  // The diagnostics of a model's answer are written for the model, which was to correct it.
  const isModels = request.source === "query";
  const message =
    error.code === "PLAN_INVALID" && first && !isModels
      ? problem(first)
      : `no plan was made: ${problem(error)}`;
  const more = isModels ? 0 : errors.length - 1;
  const isKept = isModels && request.plan?.origin.kind === "model";
  return {
    code: "PLANNING_FAILED",
    message: more > 0 ? `${message}, and ${countText(more, "more diagnostic")}` : message,
    errorCode: error.code,
    reasons: [
      advice.why,
      ...(isKept ? ["The answer of the model is kept as it came (raw); debug shows it."] : []),
    ],
    stepKeys: first?.stepId ? [first.stepId] : [],
    since: request.planningFinishedAt ?? request.updatedAt,
    next: nextOf(facts, error.code, advice),
  };
}

function nextOf(facts: DiagnosisFacts, code: string, advice: PlanningAdvice): NextAction[] {
  const { request } = facts;
  if (code === "NOT_UNDERSTOOD") return notUnderstood(request);
  if (code === "BUDGET_EXCEEDED") return [withHigherLimits(facts, advice)];
  const first = adviceAction(advice, request);
  if (code === "PLAN_INVALID" && request.source === "query")
    return [rerun(request, "Have the planner try again, under the same id:"), first];
  // A person can always write the plan that the model did not make.
  return advice.action === "other" && first.operation !== "submitPlan"
    ? [first, submit("Or write the plan yourself and submit it:")]
    : [first];
}

/** If the service allows no more, the limits of the service must be raised first. */
function withHigherLimits(
  { request, serviceLimits }: DiagnosisFacts,
  { instruction }: PlanningAdvice,
): NextAction {
  const limits = raisedLimits(request.modelLimits, serviceLimits, neededLimits(request.error?.message ?? ""));
  const canRaise = Object.keys(limits).length > 0;
  return sendAgain(
    request,
    canRaise ? "Send it again with higher limits, or ask for less at once:" : instruction,
    limits,
  );
}

/**
 * Without a model only few sentences are understood. Other words do not help if the rules have no matching
 * pattern.
 */
function notUnderstood(request: RequestFact): NextAction[] {
  const instruction =
    "Start the planner with MODEL set to a language model, such as openai:gpt-4o with OPENAI_API_KEY; then";
  return [
    rerun(request, instruction),
    listTools("Or see what the tools can do, and write a sentence for one of them:"),
  ];
}

function adviceAction({ instruction, action }: PlanningAdvice, request: RequestFact): NextAction {
  if (action === "tools") return listTools(instruction);
  if (request.source === "plan") return submit(instruction);
  return action === "again" ? rerun(request, instruction) : ask("<the sentence in other words>", instruction);
}
