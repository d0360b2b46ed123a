import { planningAdvice } from "@planwright/plan";
import type { RequestSnapshot } from "../api/request-snapshot.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { DebugFacts } from "./debug-facts.ts";
import type { Diagnosis, NextStep } from "./diagnosis.ts";
import { between, count, duration, problem } from "./format.ts";

/** What is the matter with a request whose plan never started. */
export function diagnosePlanning(facts: DebugFacts): Diagnosis {
  const { request, command } = facts;
  switch (request.status) {
    case "PLANNING":
      return request.waitReason === "no worker" ? noPlanner(facts) : planningGoesOn(facts);
    case "NEEDS_INPUT":
      return needsInput(facts);
    case "READY":
      return {
        tone: "attention",
        cause: "the plan is stored and was not started",
        why: ["Its execution was not asked for yet."],
        next: [{ say: "Start it:", command: command("execute", request.requestId) }],
      };
    case "CANCELLED":
      return {
        tone: "attention",
        cause: "the request was cancelled before anything was executed",
        why: [],
        next: [{ say: "If it is wanted after all:", command: again(facts) }],
      };
    default:
      return planningFailed(facts);
  }
}

function noPlanner({ request, nowMs, command }: DebugFacts): Diagnosis {
  const waited = duration(between(request.createdAt, nowMs) ?? 0);
  return {
    tone: "attention",
    cause: `no planner works on the request, which was accepted ${waited} ago (no worker)`,
    why: ["No planner has said within the last 5 s that it lives: none was started, or the last one died."],
    next: [
      {
        say: "Start a planner (npm start, or docker compose up -d planner); nothing is lost meanwhile. Then",
        command: command("watch", request.requestId),
      },
    ],
  };
}

function planningGoesOn({ request, nowMs, command }: DebugFacts): Diagnosis {
  const since = duration(between(request.planningStartedAt ?? request.createdAt, nowMs) ?? 0);
  const doing =
    request.waitReason === "limit" ? "it waits for a planner with a free place" : "the plan is being made";
  return {
    tone: "busy",
    cause: `nothing is wrong so far: ${doing}, since ${since}`,
    why: [],
    next: [{ say: "Follow it:", command: command("watch", request.requestId) }],
  };
}

function needsInput({ request, command }: DebugFacts): Diagnosis {
  return {
    tone: "attention",
    cause: `the planner needs ${count(request.questions.length, "answer")} before it can go on`,
    why: request.questions.slice(0, 3).map((question) => `It asks: ${oneLine(question)}`),
    next: [
      {
        say: "Answer at the terminal, where each question is asked and each answer checked (or give the answers behind it, in their order):",
        command: command("answer", request.requestId),
      },
    ],
  };
}

function planningFailed(facts: DebugFacts): Diagnosis {
  const { request } = facts;
  const finding = firstError(request);
  const error = request.error ??
    request.plan?.error ?? { code: "PLAN_INVALID", message: "the plan is invalid" };
  const advice = planningAdvice(error.code);
  const cause =
    error.code === "PLAN_INVALID" && finding ? problem(finding) : `no plan was made: ${problem(error)}`;
  const more = request.diagnostics.filter(({ severity }) => severity === "error").length - 1;
  return {
    tone: "bad",
    cause: more > 0 && finding ? `${cause}, and ${count(more, "more finding")}` : cause,
    why: [advice.why],
    next: error.code === "NOT_UNDERSTOOD" ? notUnderstood(facts) : [nextOf(advice, facts)],
  };
}

/** Without a model only few sentences are understood, and no other words help where the rules have none. */
function notUnderstood(facts: DebugFacts): NextStep[] {
  return [
    {
      say: "Start the planner with MODEL set to a language model, such as openai:gpt-4o with OPENAI_API_KEY; then",
      command: again(facts),
    },
    {
      say: "Or see what the tools can do, and say it as one of their uses:",
      command: facts.command("tools"),
    },
  ];
}

function nextOf({ say, action }: ReturnType<typeof planningAdvice>, facts: DebugFacts): NextStep {
  const { request, command } = facts;
  if (action === "tools") return { say, command: command("tools") };
  if (request.source === "plan") return { say, command: command("submit", "plan.json", "--execute") };
  return {
    say,
    command: action === "again" ? again(facts) : command("run", "<the sentence in other words>"),
  };
}

/** The same sentence once more. */
function again({ request, command }: DebugFacts): string {
  return request.query === null
    ? command("submit", "plan.json", "--execute")
    : command("run", oneLine(request.query, 1_000));
}

function firstError({ diagnostics }: RequestSnapshot) {
  return diagnostics.find(({ severity }) => severity === "error");
}
