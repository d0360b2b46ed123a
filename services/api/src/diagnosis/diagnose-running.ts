import { pendingText } from "@planwright/client";
import { stepAdvice } from "@planwright/engine";
import {
  callTimeout,
  countText,
  durationText,
  MAX_STEP_TIMEOUT_MS,
  PLACEHOLDER,
  stepsInDoubt,
  stepsToApprove,
  type ToolContract,
  type ToolDescriptor,
  toolContract,
  unmarkNumbers,
} from "@planwright/plan";
import { diagnoseDoubt } from "./diagnose-doubt.ts";
import { clipped, type PartialDiagnosis, problem, serverName, stepName } from "./diagnosis.ts";
import {
  type AttemptFact,
  type DiagnosisFacts,
  type PlanFact,
  runningCalls,
  type StepFact,
  serverOf,
} from "./facts.ts";
import { act, decide, follow, listRunning, showFleet, signIn } from "./next-actions.ts";

/** The diagnosis of a plan that has not ended: the most urgent cause comes first. */
export function diagnoseRunning(facts: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  const isOpen = plan.finishedAt === null;
  // No call was asked to stop, and none ends, before an executor has the plan.
  const isAlone = plan.waitReason === "no worker";
  if (isOpen && plan.cancelRequestedAt)
    return isAlone ? noExecutor(facts, plan) : cancelling(facts, plan, plan.cancelRequestedAt);
  if (plan.status === "PAUSED") return paused(facts, plan);
  if (isOpen && plan.pauseRequestedAt)
    return isAlone ? noExecutor(facts, plan) : pausing(facts, plan, plan.pauseRequestedAt);
  const [inDoubt, ...others] = stepsInDoubt(plan);
  if (inDoubt) return diagnoseDoubt(facts, plan, [inDoubt, ...others]);
  const [toApprove] = stepsToApprove(plan);
  if (toApprove) return approvalNeeded(facts, toApprove);
  const unsigned = plan.steps.find(({ waitReason }) => waitReason === "sign-in");
  if (unsigned) return signInNeeded(facts, unsigned);
  if (plan.lostExecutors > 1) return executorsLost(facts, plan);
  if (plan.waitReason === "no worker") return noExecutor(facts, plan);
  if (plan.waitReason === "limit" && plan.status !== "WAITING") return executorsBusy(facts, plan);
  const retrying = plan.steps.find(({ status }) => status === "RETRYING");
  if (retrying) return tryingAgain(facts, plan, retrying);
  const limited = plan.steps.find(({ waitReason }) => waitReason === "limit");
  const running = plan.steps.filter(
    (step) => step.status === "RUNNING" && step.item === null && Number.isFinite(startOf(step)),
  );
  if (limited && running.length === 0) return limitReached(facts, limited);
  return stillRunning(facts, plan, running);
}

function cancelling({ request }: DiagnosisFacts, plan: PlanFact, since: Date): PartialDiagnosis {
  return {
    code: "CANCELLING",
    message: `the plan is being cancelled, since ${since.toISOString()} (${pendingText({ control: "cancelling", calls: runningCalls(plan) })})`,
    reasons: [
      "Nothing more starts. Running calls were asked to stop; they are aborted 5 s after an executor has seen the cancel.",
    ],
    since,
    next: [follow(request)],
  };
}

function pausing({ request }: DiagnosisFacts, plan: PlanFact, since: Date): PartialDiagnosis {
  return {
    code: "PAUSING",
    message: `the plan is being paused, since ${since.toISOString()} (${pendingText({ control: "pausing", calls: runningCalls(plan) })})`,
    reasons: ["Nothing more starts. Running calls end and are recorded; then the plan is PAUSED."],
    since,
    next: [follow(request), act(request, "resume", "resume", "Or resume it:")],
  };
}

function paused({ request }: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  const { pauseRequestedAt: since, steps } = plan;
  const expiring = steps.flatMap(({ id, expiresAt }) => (expiresAt ? [{ id, expiresAt }] : []));
  return {
    code: "PAUSED",
    message: `the plan was paused${since === null ? "" : ` at ${since.toISOString()}`}`,
    reasons: [
      "Nothing starts until it is resumed; a pause has no end of its own, and the plan's deadline does not come nearer meanwhile.",
      ...expiring.map(
        ({ id, expiresAt }) =>
          `The time of an open approval goes on: that of step ${id} expires at ${expiresAt.toISOString()} (policy approvalTimeoutMs).`,
      ),
    ],
    since,
    next: [act(request, "resume", "resume", "Resume it:")],
  };
}

function approvalNeeded({ request }: DiagnosisFacts, step: StepFact): PartialDiagnosis {
  const call = clipped(unmarkNumbers(JSON.stringify(step.arguments?.value ?? null)), 240);
  return {
    code: "APPROVAL_NEEDED",
    message: `step ${stepName(step)} waits for an approval, which was neither given nor refused yet`,
    reasons: [
      `It would call ${step.tool} with ${call}`,
      ...(step.expiresAt
        ? [
            `It expires at ${step.expiresAt.toISOString()} (policy approvalTimeoutMs): without a decision the step then fails with APPROVAL_EXPIRED, and nothing is called.`,
          ]
        : []),
    ],
    stepKeys: [step.key],
    next: decide(request, step),
  };
}

/** Calls are not made meanwhile, and use no attempt. */
function signInNeeded(facts: DiagnosisFacts, step: StepFact): PartialDiagnosis {
  const server = serverOf(facts, step.tool);
  return {
    code: "SIGN_IN_NEEDED",
    message: `step ${stepName(step)} waits until a person has signed in at ${serverName(server)}`,
    reasons: [
      "The server answers only with a token, and Planwright has none that is good: no person has signed in yet, or the sign-in has ended.",
      "Nothing was called and no attempt is used; the plan's deadline does not come nearer while it only waits for that.",
    ],
    stepKeys: [step.key],
    next: [
      signIn(server ?? PLACEHOLDER, "Sign in there; the plan goes on by itself:"),
      follow(facts.request),
    ],
  };
}

function noExecutor({ request, nowMs }: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  const since = waitingSince(plan);
  const instruction =
    "Start an executor (npm start, or docker compose up -d executor); nothing is lost meanwhile. Then";
  const control = plan.cancelRequestedAt ? "cancelled" : plan.pauseRequestedAt ? "paused" : undefined;
  return {
    code: "NO_EXECUTOR",
    message: `${aloneText(plan, since && durationText(nowMs - since.getTime()))} (no worker)`,
    reasons: [
      "No executor sent a heartbeat within the last 5 s: none was started, the last one died, or it cannot reach MongoDB.",
      ...(control ? [`It is ${control} as soon as an executor has taken it.`] : []),
    ],
    since,
    next: [follow(request, instruction)],
  };
}

function aloneText({ status }: PlanFact, queuedFor: string | null): string {
  if (status === "WAITING")
    return "no executor is there to continue the plan, which was handed back while it waited";
  if (status !== "QUEUED") return "the executor that held the plan has died, and no other one has taken over";
  return `no executor has taken the plan${queuedFor ? `, which was queued ${queuedFor} ago` : " since it was handed back"}`;
}

/**
 * Since when a plan waits for its first executor. Null for a plan that had one: when that one gave it back, or
 * died, is not recorded there.
 */
function waitingSince({ status, startedAt, queuedAt, createdAt }: PlanFact): Date | null {
  return status === "QUEUED" && startedAt === null ? (queuedAt ?? createdAt) : null;
}

/** The fleet and the logs show whether this plan kills the executors, or something else. */
function executorsLost({ request }: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  const isHeld = plan.waitReason !== "no worker" && plan.waitReason !== "limit";
  const units = plan.steps.filter(({ status, item }) => status === "RUNNING" && item === null);
  const names = units.slice(0, 3).map(stepName).join(", ");
  const when = isHeld ? "Running now" : "Running when the last one was lost";
  const running = units.length > 0 ? ` ${when}: ${names}.` : "";
  return {
    code: "EXECUTORS_LOST",
    message: `${plan.lostExecutors} executors that held the plan were lost one after another, and ${isHeld ? "the next one has taken over" : "no other one has taken over yet"}`,
    reasons: [
      `No step ended between these losses.${running}`,
      "If a call of this plan kills executors, it will also kill the next ones, until the plan ends as POISONED.",
    ],
    stepKeys: units.map(({ key }) => key),
    since: plan.startedAt,
    next: [
      act(
        request,
        "cancel",
        "cancel",
        "End it before more executors are lost; a rerun keeps what completed:",
      ),
      showFleet(`See which executors were lost and when, and find ${plan.planId} in their logs:`),
    ],
  };
}

/** Executors are alive, and none has taken the plan yet. */
function executorsBusy({ request, nowMs }: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  const since = waitingSince(plan);
  const isOrphan = plan.status !== "QUEUED";
  return {
    code: "EXECUTORS_BUSY",
    message: isOrphan
      ? "the executor that held the plan has died; another one takes it over as soon as it has a free slot"
      : `nothing is wrong so far: the plan waits for an executor with a free slot${since ? `, since ${durationText(nowMs - since.getTime())}` : ""}`,
    reasons: [
      "Executors are alive, and take a queued plan within a second of having a slot (MAX_PLANS each).",
    ],
    since,
    next: [follow(request)],
  };
}

function tryingAgain(facts: DiagnosisFacts, plan: PlanFact, step: StepFact): PartialDiagnosis {
  const { request, nowMs } = facts;
  const unsent = step.attempts.at(-1)?.unsent;
  if (unsent) return unreachable(facts, plan, step, unsent);
  const error = step.error ?? step.attempts.findLast((attempt) => attempt.error !== null)?.error;
  const { why, instruction, action } = stepAdvice(error?.code ?? "TOOL_FAILED", serverOf(facts, step.tool));
  // The rest of the advice is for a plan that has ended: a call that is made again can neither be settled nor changed.
  const hasFirstAction = action === "retry" && instruction.endsWith("; then");
  return {
    code: "STEP_RETRYING",
    message: `step ${stepName(step)} keeps failing: ${error ? problem(error) : "see its attempts below"}`,
    errorCode: error?.code,
    reasons: [
      action === "resolve" ? "Another call of it is safe." : why,
      `${countText(step.attempts.length, "attempt")} so far; it is tried again ${whenAgain(step, nowMs)}, by itself.`,
    ],
    stepKeys: [step.key],
    since: step.startedAt,
    next: [follow(request, hasFirstAction ? continuesByItself(instruction) : undefined)],
  };
}

const continuesByItself = (instruction: string) => instruction.replace(/; then$/, "; it continues by itself");

function whenAgain({ nextAttemptAt }: StepFact, nowMs: number): string {
  const waitMs = nextAttemptAt === null ? 0 : nextAttemptAt.getTime() - nowMs;
  if (nextAttemptAt === null || waitMs <= 0) return "at any moment";
  return `in ${durationText(waitMs)}, at ${nextAttemptAt.toISOString()}`;
}

/** Nothing was sent, however often the step was tried: it waits for its server, and this uses no attempt. */
function unreachable(
  facts: DiagnosisFacts,
  plan: PlanFact,
  step: StepFact,
  { tries, since }: NonNullable<AttemptFact["unsent"]>,
): PartialDiagnosis {
  const { request, nowMs } = facts;
  const server = serverOf(facts, step.tool);
  const until = waitsUntil(plan, since);
  const limit = until?.by === "deadline" ? "the plan's deadline" : "policy unreachableMs";
  const { why, instruction } = stepAdvice("TOOL_UNREACHABLE", server);
  const given = until === undefined ? "" : `, and given up at ${until.at.toISOString()} (${limit})`;
  return {
    code: "SERVER_UNREACHABLE",
    message: `step ${stepName(step)} waits for ${serverName(server)}, which cannot be reached since ${since.toISOString()} (${durationText(nowMs - since.getTime())}): ${step.error ? problem(step.error) : "see its attempts below"}`,
    errorCode: step.error?.code,
    reasons: [
      why,
      `Tried ${countText(tries, "time")}, none of which counts as an attempt; it is tried again ${whenAgain(step, nowMs)}, by itself${given}.`,
    ],
    stepKeys: [step.key],
    since,
    next: [follow(request, continuesByItself(instruction))],
  };
}

function limitReached({ request, tools }: DiagnosisFacts, step: StepFact): PartialDiagnosis {
  const limit = limitOf(tools, step.tool);
  const allowed = limit === undefined ? "" : `The tool's contract allows ${limit}; `;
  const used = contractOf(tools, step.tool)?.rateLimit
    ? "other calls have used that up."
    : "other calls hold every slot.";
  return {
    code: "LIMIT_REACHED",
    message: `step ${stepName(step)} waits for a free slot under the limit of tool ${step.tool} (limit)`,
    reasons: [
      allowed === "" ? "Other calls hold every slot." : `${allowed}${used}`,
      "It starts by itself as soon as one is free.",
    ],
    stepKeys: [step.key],
    next: [listRunning("See which other plans run:"), follow(request)],
  };
}

function stillRunning(facts: DiagnosisFacts, plan: PlanFact, running: readonly StepFact[]): PartialDiagnosis {
  const { request, nowMs, tools } = facts;
  const steps = plan.steps.filter(({ item }) => item === null);
  const countOf = (status: StepFact["status"]) => steps.filter((step) => step.status === status).length;
  const failed = plan.steps.filter(({ status }) => status === "FAILED").length;
  const progress = `${failed === 0 ? "nothing has failed" : `${failed} failed`}, ${countOf("COMPLETED")} of ${countText(steps.length, "step")} completed`;
  const [oldest] = running.toSorted((a, b) => startOf(a) - startOf(b));
  if (!oldest) {
    const message = `nothing is wrong so far: ${progress}`;
    return { code: "RUNNING", message, since: plan.startedAt, next: [follow(request)] };
  }
  const since = new Date(startOf(oldest));
  const end = callEndsAt(plan, { step: oldest, since, tools });
  const after = end && durationText(end.at.getTime() - since.getTime());
  const until = !end
    ? ""
    : ` and is given up after ${after}${end.by === "deadline" ? ", at the plan's deadline" : ""}`;
  const waits = `waits for the answer of ${serverName(serverOf(facts, oldest.tool))}${until}`;
  const items = itemsText(plan, oldest);
  return {
    code: "RUNNING",
    message: `step ${stepName(oldest)} has been running for ${durationText(nowMs - startOf(oldest))}${items}; ${progress}`,
    reasons: [items === "" ? `The call ${waits}.` : `Each call of the list ${waits}.`],
    stepKeys: [oldest.key],
    since,
    next: [follow(request), act(request, "cancel", "cancel", "Or end it:")],
  };
}

/** Of a list: ", 3 of 10 items completed"; empty for another step. */
function itemsText({ itemCounts }: PlanFact, { id }: StepFact): string {
  const counts = itemCounts.get(id);
  if (!counts) return "";
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `, ${counts.COMPLETED ?? 0} of ${countText(all, "item")} completed`;
}

/** Start of the running call; a list has no call of its own. Infinity: it is not known. */
const startOf = ({ attempts, startedAt }: StepFact) =>
  (attempts.at(-1)?.startedAt ?? startedAt)?.getTime() ?? Number.POSITIVE_INFINITY;

/**
 * The limit in a tool's contract of parallel calls, or of calls in a time, as text; undefined without a
 * limit.
 */
function limitOf(tools: readonly ToolDescriptor[], tool: string): string | undefined {
  const contract = contractOf(tools, tool);
  if (!contract) return undefined;
  const { mode, maxConcurrency, barrier, rateLimit, scope } = contract;
  const where = scope === "global" || scope === "tenant" ? " over all plans" : " in one plan";
  const parts: string[] = [];
  if (rateLimit) parts.push(`${rateLimit.max} calls in ${rateLimit.perMs} ms`);
  if (barrier === true) parts.push("no other step during its calls");
  else if (mode === "sequential-only" || maxConcurrency === 1) parts.push(`one call at once${where}`);
  else if (maxConcurrency !== undefined) parts.push(`${maxConcurrency} calls at once${where}`);
  return parts.length > 0 ? parts.join(" and ") : undefined;
}

/** When something is given up, and the limit that ends it first. */
interface GivenUp {
  at: Date;
  by: "timeout" | "unreachableMs" | "deadline";
}

/**
 * Timeout of one call of a step, in milliseconds, by the rule of the executors. Executors that allow less than
 * {@link MAX_STEP_TIMEOUT_MS} give up earlier.
 */
function timeoutOf(
  { document }: Pick<PlanFact, "document">,
  { id, tool }: Pick<StepFact, "id" | "tool">,
  tools: readonly ToolDescriptor[],
): number | undefined {
  const step = document?.steps.find((one) => one.id === id);
  const policyMs = document?.policy?.stepTimeoutMs;
  const contractMs = contractOf(tools, tool)?.timeoutMs;
  if (policyMs === undefined) return contractMs;
  const facts = { stepMs: step?.timeoutMs, policyMs, contractMs, maxStepMs: MAX_STEP_TIMEOUT_MS };
  return callTimeout(facts).timeoutMs;
}

/** When the call of a step that began at `since` is given up: after its timeout, or at the plan's deadline. */
function callEndsAt(
  plan: Pick<PlanFact, "document" | "deadlineAt">,
  {
    step,
    since,
    tools,
  }: { step: Pick<StepFact, "id" | "tool">; since: Date; tools: readonly ToolDescriptor[] },
): GivenUp | undefined {
  const timeoutMs = timeoutOf(plan, step, tools);
  return earliest(plan, since, timeoutMs, "timeout");
}

/**
 * The time until which a plan waits for a tool server that has been unreachable since `since`, at the latest its
 * deadline; undefined if the plan has no such limit.
 */
function waitsUntil(plan: Pick<PlanFact, "document" | "deadlineAt">, since: Date): GivenUp | undefined {
  return earliest(plan, since, plan.document?.policy?.unreachableMs, "unreachableMs");
}

function earliest(
  { deadlineAt }: Pick<PlanFact, "deadlineAt">,
  since: Date,
  limitMs: number | undefined,
  by: GivenUp["by"],
): GivenUp | undefined {
  const own = limitMs === undefined ? undefined : { at: new Date(since.getTime() + limitMs), by };
  if (deadlineAt && (!own || deadlineAt < own.at)) return { at: deadlineAt, by: "deadline" };
  return own;
}

function contractOf(tools: readonly ToolDescriptor[], tool: string): ToolContract | undefined {
  const found = tools.find(({ name }) => name === tool);
  return found && toolContract(found).contract;
}
