import { type StepAdvice, stepAdvice } from "@planwright/engine";
import type { PlanSnapshot, StepSnapshot } from "../api/request-snapshot.ts";
import type { DebugFacts } from "./debug-facts.ts";
import { serverOf } from "./debug-facts.ts";
import { listsFellShort } from "./diagnose-lists.ts";
import { doubtDiagnosis, hasKey } from "./diagnose-people.ts";
import type { Diagnosis, NextStep } from "./diagnosis.ts";
import { count, duration, problem, stepName } from "./format.ts";
import { stepsInDoubt } from "./need.ts";

/** What became of a plan that is over. */
export function diagnoseEnd(facts: DebugFacts, plan: PlanSnapshot | null): Diagnosis {
  if (!plan || facts.request.status === "COMPLETED") return completed(facts);
  const failed = rootFailure(plan);
  const inDoubt = stepsInDoubt(plan);
  const ending = wholePlanEnding(facts, plan, failed);
  if (ending) return inDoubt[0] ? withDoubt(ending, facts, plan, inDoubt) : ending;
  if (failed) {
    const diagnosis = stepFailed(facts, plan, failed);
    return inDoubt[0] ? withDoubt(diagnosis, facts, plan, inDoubt) : diagnosis;
  }
  const fellShort = listsFellShort(facts, plan);
  if (fellShort) return inDoubt[0] ? withDoubt(fellShort, facts, plan, inDoubt) : fellShort;
  if (inDoubt[0]) return doubtDiagnosis(facts, plan, inDoubt);
  const { error } = plan;
  if (error?.code === "OUTPUT_UNRESOLVED") return outputLeftOut(facts, error);
  return {
    tone: "bad",
    cause: error ? problem(error) : `the plan ended ${plan.status}`,
    why: [],
    next: [retry(facts, "Let what did not complete run again:")],
  };
}

/** Every step did what it had to; what was asked for cannot be made of what they gave. */
function outputLeftOut(facts: DebugFacts, error: NonNullable<PlanSnapshot["error"]>): Diagnosis {
  const advice = stepAdvice(error.code);
  return { tone: "bad", cause: problem(error), why: [advice.why], next: nextOf(facts, advice) };
}

function completed({ request, command }: DebugFacts): Diagnosis {
  return {
    tone: "good",
    cause: "none: every step that had to be done is done",
    why: [],
    next: [{ say: "See the outputs:", command: command("watch", request.requestId) }],
  };
}

/** The step that failed first, by itself: of a forEach, the item. */
export function rootFailure({ steps }: PlanSnapshot): StepSnapshot | undefined {
  const [first] = steps
    .filter(({ status, item }) => status === "FAILED" && item === null)
    .toSorted((a, b) => endOf(a).localeCompare(endOf(b)));
  if (first?.error?.code !== "ITEMS_FAILED") return first;
  return (
    steps.find(({ id, item, status }) => id === first.id && item !== null && status === "FAILED") ?? first
  );
}

const endOf = (step: StepSnapshot) => step.finishedAt ?? step.attempts.at(-1)?.endedAt ?? "";

/** Ends that are about the plan and not about one step. */
function wholePlanEnding(
  facts: DebugFacts,
  plan: PlanSnapshot,
  failed: StepSnapshot | undefined,
): Diagnosis | undefined {
  const code = plan.error?.code;
  if (code === "POISONED") return poisoned(facts, plan);
  if (plan.status === "CANCELLED") return cancelled(facts, plan);
  if (plan.status === "EXPIRED" || (code === "DEADLINE_EXCEEDED" && !failed)) return expired(facts, plan);
  return undefined;
}

function poisoned(facts: DebugFacts, plan: PlanSnapshot): Diagnosis {
  const advice = stepAdvice("POISONED");
  const suspects = plan.steps.filter(
    ({ status, attempts }) => status === "IN_DOUBT" || attempts.some(({ endedAt }) => endedAt === null),
  );
  const where =
    suspects.length > 0 ? ` Under way each time: ${suspects.slice(0, 3).map(stepName).join(", ")}.` : "";
  return {
    tone: "bad",
    cause: `the plan was given up: ${plan.error ? problem(plan.error) : "POISONED"}`,
    why: [`${advice.why}${where}`],
    next: [retry(facts, `Find ${plan.planId} in the logs of the executors and mend what killed them; then`)],
  };
}

function cancelled(facts: DebugFacts, plan: PlanSnapshot): Diagnosis {
  const of = (status: string) =>
    plan.steps.filter((step) => step.item === null && step.status === status).length;
  const at = plan.cancelRequestedAt === null ? "" : ` at ${plan.cancelRequestedAt}`;
  return {
    tone: "attention",
    cause: `the plan was cancelled${at} (CANCELLED)`,
    why: [
      `${count(of("COMPLETED"), "step")} had completed and stay so, ${of("CANCELLED")} did not run or were stopped.`,
    ],
    next: [retry(facts, "To let what is left run after all:")],
  };
}

function expired(facts: DebugFacts, plan: PlanSnapshot): Diagnosis {
  const took = plan.durationMs === null ? "" : ` after ${duration(plan.durationMs)}`;
  const open = plan.steps.filter(({ status, item }) => item === null && status !== "COMPLETED");
  return {
    tone: "bad",
    cause: `the plan's deadline passed${took} (DEADLINE_EXCEEDED)`,
    why: [
      `Not completed by then: ${open.slice(0, 4).map(stepName).join(", ")}${open.length > 4 ? ", …" : ""}.`,
    ],
    next: [retry(facts, stepAdvice("DEADLINE_EXCEEDED").say)],
  };
}

function stepFailed(facts: DebugFacts, plan: PlanSnapshot, step: StepSnapshot): Diagnosis {
  const error = step.error ?? { code: "TOOL_FAILED", message: "without a word" };
  const server = serverOf(facts, step.tool);
  const advice = stepAdvice(error.code, server);
  const steps = plan.steps.filter(({ item }) => item === null);
  const others = steps.filter(({ status, id }) => status === "FAILED" && id !== step.id).length;
  const skipped = steps.filter(({ status }) => status === "SKIPPED").length;
  const also = [others > 0 && `${others} more failed`, skipped > 0 && `${skipped} skipped`].filter(
    (part) => part !== false,
  );
  const isGone = server === undefined && facts.tools.length > 0;
  return {
    tone: "bad",
    cause: `step ${stepName(step)} failed: ${problem(error)}`,
    why: [
      [advice.why, ...facetsOf(step, also)].join(" "),
      ...(facts.request.error ? [`It was not made anew: ${problem(facts.request.error)}`] : []),
      ...(isGone ? [`No server offers ${step.tool} right now.`] : []),
    ],
    next: nextOf(facts, advice),
  };
}

/** How often it was tried, and what else came of it. */
function facetsOf({ attempts }: StepSnapshot, also: readonly string[]): string[] {
  const parts = [...(attempts.length > 0 ? [count(attempts.length, "attempt")] : []), ...also];
  return parts.length > 0 ? [`(${parts.join(", ")})`] : [];
}

function nextOf(facts: DebugFacts, { say, action }: StepAdvice): NextStep[] {
  const { request, command } = facts;
  if (action !== "correct") return [retry(facts, say)];
  if (request.plan?.origin.kind === "model") {
    return [
      {
        say: "Have the planner make the rest anew, knowing what failed; what completed is kept:",
        command: command("replan", request.requestId),
      },
      {
        say: `Or: ${say.charAt(0).toLowerCase()}${say.slice(1)}`,
        command: command("run", "<the corrected sentence>"),
      },
    ];
  }
  const send =
    request.source === "plan"
      ? command("submit", "plan.json", "--execute")
      : command("run", "<the corrected sentence>");
  return [
    { say, command: send },
    retry(facts, "If the reason lay outside and is gone, let what failed run again:"),
  ];
}

function retry({ request, command }: DebugFacts, say: string): NextStep {
  return { say, command: command("retry", request.requestId) };
}

/** Nothing runs again before the doubts are settled, but for calls that bear a key: those are asked again with the rest. */
function withDoubt(
  diagnosis: Diagnosis,
  facts: DebugFacts,
  plan: PlanSnapshot,
  inDoubt: readonly StepSnapshot[],
): Diagnosis {
  const toSettle = inDoubt.filter((step) => !hasKey(step));
  const mustSettle = toSettle.length > 0;
  const doubt = doubtDiagnosis(facts, plan, mustSettle ? toSettle : inDoubt);
  const [happened] = mustSettle ? doubt.next : [];
  const [first] = diagnosis.next;
  return {
    ...diagnosis,
    why: [...diagnosis.why.slice(0, 1), `Also, ${doubt.cause}.`, ...(happened ? [] : doubt.why.slice(1))],
    next: [
      ...(happened
        ? [{ ...happened, say: `${happened.say.replace(/ If it did.*/, "")} Say so (or --retry):` }]
        : []),
      ...(first ? [first] : []),
    ],
  };
}
