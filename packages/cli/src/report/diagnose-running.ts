import { stepAdvice } from "@planwright/engine";
import type { PlanSnapshot, StepSnapshot } from "../api/request-snapshot.ts";
import type { DebugFacts } from "./debug-facts.ts";
import { serverOf } from "./debug-facts.ts";
import { approvalNext, doubtDiagnosis } from "./diagnose-people.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { between, count, duration, inlineJson, problem, stepName } from "./format.ts";
import { limitOf, timeoutOf, waitsUntil } from "./limits.ts";
import { stepsInDoubt, stepsToApprove } from "./need.ts";
import { type PendingControl, pendingControl, pendingText } from "./pending-control.ts";

/** What is the matter with a plan that is not over: the gravest first. */
export function diagnoseRunning(facts: DebugFacts, plan: PlanSnapshot): Diagnosis {
  const pending = pendingControl(plan);
  if (pending?.control === "cancelling") return cancelling(facts, pending);
  if (plan.status === "PAUSED") return paused(facts, plan);
  if (pending) return pausing(facts, pending);
  const inDoubt = stepsInDoubt(plan);
  if (inDoubt[0]) return doubtDiagnosis(facts, plan, inDoubt);
  const [toApprove] = stepsToApprove(plan);
  if (toApprove) return approval(facts, toApprove);
  if (plan.waitReason === "no worker") return noExecutor(facts, plan);
  if (plan.waitReason === "limit" && plan.status !== "WAITING") return executorsFull(facts, plan);
  const retrying = plan.steps.find(({ status }) => status === "RETRYING");
  if (retrying) return tryingAgain(facts, retrying);
  const limited = plan.steps.find(({ waitReason }) => waitReason === "limit");
  const running = plan.steps.filter(({ status, item }) => status === "RUNNING" && item === null);
  if (limited && running.length === 0) return limitReached(facts, limited);
  return stillRunning(facts, plan, running);
}

function goesOn({ request, command }: DebugFacts, cause: string, why: string[] = []): Diagnosis {
  return {
    tone: "busy",
    cause,
    why,
    next: [{ say: "Follow it:", command: command("watch", request.requestId) }],
  };
}

function cancelling(facts: DebugFacts, pending: PendingControl): Diagnosis {
  const why =
    "Nothing more starts. Running calls were told to stop, and are given up 5 s after an executor has seen it.";
  return goesOn(facts, `the plan is being cancelled, since ${pending.since} (${pendingText(pending)})`, [
    why,
  ]);
}

function pausing({ request, command }: DebugFacts, pending: PendingControl): Diagnosis {
  return {
    tone: "busy",
    cause: `the plan is being paused, since ${pending.since} (${pendingText(pending)})`,
    why: ["Nothing more starts. Calls under way end and are recorded; then the plan is PAUSED."],
    next: [
      { say: "Follow it:", command: command("watch", request.requestId) },
      { say: "Or let it go on:", command: command("resume", request.requestId) },
    ],
  };
}

function paused({ request, command }: DebugFacts, plan: PlanSnapshot): Diagnosis {
  return {
    tone: "attention",
    cause: `the plan was paused${plan.pauseRequestedAt === null ? "" : ` at ${plan.pauseRequestedAt}`}`,
    why: ["Nothing starts until it is resumed; its deadline goes on."],
    next: [{ say: "Let it go on:", command: command("resume", request.requestId) }],
  };
}

function approval(facts: DebugFacts, step: StepSnapshot): Diagnosis {
  return {
    tone: "attention",
    cause: `step ${stepName(step)} waits for an approval, which was neither given nor refused yet`,
    why: [`It would call ${step.tool} with ${inlineJson(step.resolvedArguments, 240)}`],
    next: approvalNext(facts, step),
  };
}

function noExecutor({ request, nowMs, command }: DebugFacts, plan: PlanSnapshot): Diagnosis {
  const since = duration(between(plan.queuedAt ?? plan.createdAt, nowMs) ?? 0);
  const cause =
    plan.status === "QUEUED"
      ? `no executor has taken the plan, which was queued ${since} ago (no worker)`
      : `the executor that held the plan is gone, and no other one has taken over (no worker)`;
  return {
    tone: "attention",
    cause,
    why: [
      "No executor has said within the last 5 s that it lives: none was started, the last one died, or MongoDB is away from it.",
    ],
    next: [
      {
        say: "Start an executor (npm start, or docker compose up -d executor); nothing is lost meanwhile. Then",
        command: command("watch", request.requestId),
      },
    ],
  };
}

/** Executors live, and none has taken the plan yet. */
function executorsFull({ request, nowMs, command }: DebugFacts, plan: PlanSnapshot): Diagnosis {
  const since = duration(between(plan.queuedAt ?? plan.createdAt, nowMs) ?? 0);
  return {
    tone: "busy",
    cause: `nothing is wrong so far: the plan waits for an executor with a free place, since ${since}`,
    why: ["Executors live, and take a queued plan within a second of having a place (MAX_PLANS each)."],
    next: [{ say: "Follow it:", command: command("watch", request.requestId) }],
  };
}

function tryingAgain(facts: DebugFacts, step: StepSnapshot): Diagnosis {
  const { request, nowMs, command } = facts;
  const unsent = step.attempts.at(-1)?.unsent;
  if (unsent) return unreachable(facts, step, unsent);
  const error = step.error ?? step.attempts.findLast((attempt) => attempt.error !== null)?.error;
  const when = whenAgain(step, nowMs);
  const advice = stepAdvice(error?.code ?? "TOOL_FAILED", serverOf(facts, step.tool));
  return {
    tone: "attention",
    cause: `step ${stepName(step)} keeps failing: ${error ? problem(error) : "see its attempts below"}`,
    why: [
      advice.why,
      `${count(step.attempts.length, "attempt")} so far; it is tried again ${when}, by itself.`,
    ],
    next: [
      {
        say: advice.say.replace(/; then$/, "; it goes on by itself"),
        command: command("watch", request.requestId),
      },
    ],
  };
}

function whenAgain({ nextAttemptAt }: StepSnapshot, nowMs: number): string {
  const wait = between(new Date(nowMs).toISOString(), nextAttemptAt);
  return wait === null || wait <= 0 ? "at any moment" : `in ${duration(wait)}, at ${nextAttemptAt}`;
}

/** Nothing was sent, however often: the step waits for its server, and no attempt is used up by that. */
function unreachable(
  facts: DebugFacts,
  step: StepSnapshot,
  { tries, since }: NonNullable<StepSnapshot["attempts"][number]["unsent"]>,
): Diagnosis {
  const { request, nowMs, command } = facts;
  const server = serverOf(facts, step.tool);
  const name = server === undefined ? "its server" : `server "${server}"`;
  const until = waitsUntil(request.plan?.document ?? null, since);
  const { why, say } = stepAdvice("TOOL_UNREACHABLE", server);
  return {
    tone: "attention",
    cause: `step ${stepName(step)} waits for ${name}, which cannot be reached since ${since} (${duration(between(since, nowMs) ?? 0)}): ${step.error ? problem(step.error) : "see its attempts below"}`,
    why: [
      why,
      `Tried ${count(tries, "time")}, none of which counts as an attempt; it is tried again ${whenAgain(step, nowMs)}, by itself${until === undefined ? "" : `, and given up at ${until} (policy unreachableMs)`}.`,
    ],
    next: [
      {
        say: say.replace(/; then$/, "; it goes on by itself"),
        command: command("watch", request.requestId),
      },
    ],
  };
}

function limitReached(facts: DebugFacts, step: StepSnapshot): Diagnosis {
  const { request, command } = facts;
  const limit = limitOf(facts.tools, step.tool);
  return {
    tone: "attention",
    cause: `step ${stepName(step)} waits for a free place under the limit of tool ${step.tool} (limit)`,
    why: [
      limit === undefined
        ? "Other calls hold every place."
        : `The tool's contract allows ${limit}; other calls hold every place.`,
      "It starts by itself as soon as one is free.",
    ],
    next: [
      { say: "See which other plans run:", command: command("list", "--status", "EXECUTING") },
      { say: "Follow it:", command: command("watch", request.requestId) },
    ],
  };
}

function stillRunning(facts: DebugFacts, plan: PlanSnapshot, running: readonly StepSnapshot[]): Diagnosis {
  const { request, nowMs, command } = facts;
  const done = plan.steps.filter(({ status, item }) => status === "COMPLETED" && item === null).length;
  const total = plan.steps.filter(({ item }) => item === null).length;
  const progress = `${done} of ${count(total, "step")} completed`;
  const [oldest] = running.toSorted((a, b) => startOf(a).localeCompare(startOf(b)));
  if (!oldest) return goesOn(facts, `nothing is wrong so far: ${progress}`);
  const since = duration(between(startOf(oldest), nowMs) ?? 0);
  const timeout = timeoutOf(plan.document, oldest.id, facts.tools, oldest.tool);
  const server = serverOf(facts, oldest.tool);
  return {
    tone: "busy",
    cause: `step ${stepName(oldest)} has been running for ${since}; nothing has failed, ${progress}`,
    why: [
      `The call waits for the answer of ${server === undefined ? "its server" : `server "${server}"`}${
        timeout === undefined ? "" : ` and is given up after ${duration(timeout)}`
      }.`,
    ],
    next: [
      { say: "Follow it:", command: command("watch", request.requestId) },
      { say: "Or end it:", command: command("cancel", request.requestId) },
    ],
  };
}

const startOf = (step: StepSnapshot) => step.attempts.at(-1)?.startedAt ?? step.startedAt ?? "";
