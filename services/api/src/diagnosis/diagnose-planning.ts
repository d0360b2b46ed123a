import { countText, durationText, type PlanningAdvice, planningAdvice } from "@planwright/plan";
import type { ModelWait } from "@planwright/store";
import type { NextAction, PartialDiagnosis } from "./diagnosis.ts";
import type { DiagnosisFacts, RequestFact } from "./facts.ts";
import { act, ask, follow, listTools, rerun, sendAgain, submit } from "./next-actions.ts";
import { neededLimits, raisedLimits } from "./raised-limits.ts";
import { clipped, problem } from "./wording.ts";

/** The diagnosis of a request whose plan was never started. */
export function diagnosePlanning(facts: DiagnosisFacts): PartialDiagnosis {
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
