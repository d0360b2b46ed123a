import { type StepAdvice, stepAdvice } from "@planwright/engine";
import { countText, findLeftOut, nearestName, toolOfStep } from "@planwright/plan";
import { leftText } from "./better-version.ts";
import { correctPlan } from "./correct-plan.ts";
import { diagnoseDoubt, withDoubt } from "./diagnose-doubt.ts";
import { diagnoseLists } from "./diagnose-lists.ts";
import type { NextAction, PartialDiagnosis } from "./diagnosis.ts";
import { type DiagnosisFacts, type ErrorFact, type PlanFact, type StepFact, serverOf } from "./facts.ts";
import { amendPart, follow, goBack, replan, rerun } from "./next-actions.ts";
import { stepsInDoubt } from "./open-decisions.ts";
import { clipped, problem, serverName, stepName } from "./wording.ts";

/** Why a plan ended in this way. */
export function diagnoseEnd(facts: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  if (facts.request.status === "COMPLETED") return completed(facts, plan);
  const failed = rootFailure(plan);
  const [first, ...others] = stepsInDoubt(plan);
  const partial =
    wholePlanEnding(facts, plan, failed) ??
    (failed ? stepFailed(facts, plan, failed) : diagnoseLists(facts, plan));
  if (partial && first) return withDoubt(partial, facts, plan, [first, ...others]);
  if (first) return diagnoseDoubt(facts, plan, [first, ...others]);
  return withBetterVersion(partial ?? otherEnding(facts, plan), facts);
}

/** The diagnosis of a version that did worse than an earlier one: the action to go back comes first. */
function withBetterVersion(partial: PartialDiagnosis, { request }: DiagnosisFacts): PartialDiagnosis {
  const { better, version, plan } = request;
  if (!better || !plan) return partial;
  const steps = plan.steps.filter(({ item }) => item === null);
  const completed = steps.filter(({ status }) => status === "COMPLETED").length;
  const now = leftText({ version, steps: steps.length, completed });
  const worse = `Version ${version} did worse than version ${better.version}: ${now} steps did not complete, of version ${better.version} it was ${leftText(better)}.`;
  const instruction = `Go back to the plan of version ${better.version} and run its remaining steps; completed steps are kept:`;
  return {
    ...partial,
    reasons: [worse, ...(partial.reasons ?? [])],
    next: [goBack(request, better.version, instruction), ...partial.next],
  };
}

function completed({ request }: DiagnosisFacts, { finishedAt }: PlanFact): PartialDiagnosis {
  return {
    code: "COMPLETED",
    message: "none: every step that had to be done is done",
    since: finishedAt,
    next: [follow(request, "See the outputs:")],
  };
}

/** No step failed, but the plan did: for example, no requested output could be resolved. */
function otherEnding(facts: DiagnosisFacts, plan: PlanFact): PartialDiagnosis {
  const { error, finishedAt: since } = plan;
  if (error?.code === "OUTPUT_UNRESOLVED") {
    const advice = stepAdvice(error.code);
    return {
      code: "PLAN_FAILED",
      message: problem(error),
      errorCode: error.code,
      reasons: [advice.why],
      since,
      next: nextOf(facts, plan, undefined, { ...advice, code: error.code }),
    };
  }
  return {
    code: "PLAN_FAILED",
    message: error ? problem(error) : `the plan ended ${plan.status}`,
    errorCode: error?.code,
    since,
    next: [rerun(facts.request, "Run the steps that did not complete again:")],
  };
}

/** The step that failed first, not because of a dependency; for a forEach step, its item. */
function rootFailure({ steps }: PlanFact): StepFact | undefined {
  const [first] = steps
    .filter(({ status, item }) => status === "FAILED" && item === null)
    .toSorted((a, b) => endOf(a) - endOf(b));
  if (first?.error?.code !== "ITEMS_FAILED") return first;
  return (
    steps.find(({ id, item, status }) => id === first.id && item !== null && status === "FAILED") ?? first
  );
}

const endOf = ({ finishedAt }: StepFact) => finishedAt?.getTime() ?? 0;

/** Endings that are about the plan and not about one step. */
function wholePlanEnding(
  { request }: DiagnosisFacts,
  plan: PlanFact,
  failed: StepFact | undefined,
): PartialDiagnosis | undefined {
  const code = plan.error?.code;
  if (code === "POISONED") return poisoned({ request }, plan);
  if (plan.status === "CANCELLED") return cancelled({ request }, plan);
  if (plan.status === "EXPIRED" || (code === "DEADLINE_EXCEEDED" && !failed))
    return expired({ request }, plan);
  return undefined;
}

function poisoned({ request }: Pick<DiagnosisFacts, "request">, plan: PlanFact): PartialDiagnosis {
  const advice = stepAdvice("POISONED");
  const suspects = plan.steps.filter(
    ({ status, attempts }) => status === "IN_DOUBT" || attempts.some(({ endedAt }) => endedAt === null),
  );
  const where =
    suspects.length > 0 ? ` Running each time: ${suspects.slice(0, 3).map(stepName).join(", ")}.` : "";
  const instruction = `Find ${plan.planId} in the logs of the executors and correct what killed them; then`;
  return {
    code: "POISONED",
    message: `the plan was given up: ${plan.error ? problem(plan.error) : "POISONED"}`,
    errorCode: "POISONED",
    reasons: [`${advice.why}${where}`],
    stepKeys: suspects.map(({ key }) => key),
    since: plan.finishedAt,
    next: [rerun(request, instruction)],
  };
}

function cancelled({ request }: Pick<DiagnosisFacts, "request">, plan: PlanFact): PartialDiagnosis {
  const steps = plan.steps.filter(({ item }) => item === null);
  const countOf = (status: StepFact["status"]) => steps.filter((step) => step.status === status).length;
  const kept = countOf("COMPLETED");
  const stopped = steps.filter(({ status, attempts }) => status === "CANCELLED" && attempts.length > 0);
  const parts: [count: number, text: string][] = [
    [stopped.length, `stopped (${namesOf(stopped)})`],
    [countOf("CANCELLED") - stopped.length, "not begun"],
    [countOf("FAILED"), "failed"],
    [countOf("SKIPPED"), "skipped"],
    [countOf("IN_DOUBT"), "in doubt"],
  ];
  const others = parts.flatMap(([count, text]) => (count > 0 ? [`${count} ${text}`] : [])).join(", ");
  const at = plan.cancelRequestedAt === null ? "" : ` at ${plan.cancelRequestedAt.toISOString()}`;
  return {
    code: "CANCELLED",
    message: `the plan was cancelled${at} (CANCELLED)`,
    reasons: [
      `${countText(kept, "step")} had completed and ${kept === 1 ? "is" : "are"} kept${others === "" ? "" : `; ${others}`}.`,
    ],
    stepKeys: steps.filter(({ status }) => status === "CANCELLED").map(({ key }) => key),
    since: plan.cancelRequestedAt ?? plan.finishedAt,
    next: [rerun(request, "To run the remaining steps:")],
  };
}

function expired({ request }: Pick<DiagnosisFacts, "request">, plan: PlanFact): PartialDiagnosis {
  const open = plan.steps.filter(({ status, item }) => item === null && status !== "COMPLETED");
  return {
    code: "EXPIRED",
    message: `${plan.error?.message.replace(/^The /, "the ") ?? "the plan's deadline passed"} (DEADLINE_EXCEEDED)`,
    errorCode: "DEADLINE_EXCEEDED",
    reasons: [`Not completed by then: ${namesOf(open)}.`],
    stepKeys: open.map(({ key }) => key),
    since: plan.finishedAt,
    next: [rerun(request, stepAdvice("DEADLINE_EXCEEDED").instruction)],
  };
}

/** The names of the first steps. */
function namesOf(steps: readonly StepFact[]): string {
  return `${steps.slice(0, 4).map(stepName).join(", ")}${steps.length > 4 ? ", …" : ""}`;
}

function stepFailed(facts: DiagnosisFacts, plan: PlanFact, step: StepFact): PartialDiagnosis {
  const error: ErrorFact = step.error ?? { code: "TOOL_FAILED", message: "no message" };
  const server = serverOf(facts, step.tool);
  const advice = stepAdvice(error.code, server ?? pinnedServer(plan, step), step);
  const toolGone =
    server === undefined && facts.tools.length > 0 ? diagnoseToolGone(facts, plan, step) : undefined;
  return {
    code: "STEP_FAILED",
    message: `step ${stepName(step)} failed: ${problem(error)}`,
    errorCode: error.code,
    reasons: [
      [advice.why, ...circumstances(plan, step)].join(" "),
      ...(facts.request.error ? [`It was not replanned: ${problem(facts.request.error)}`] : []),
      ...(toolGone ? [toolGone.reason] : []),
      ...unexpectedOutput(facts, plan, step),
    ],
    stepKeys: [step.key],
    since: step.finishedAt ?? plan.finishedAt,
    next: [
      ...(error.code === "TOOL_NOT_FOUND" ? (toolGone?.next ?? []) : []),
      ...nextOf(facts, plan, step, { ...advice, code: error.code }),
    ],
  };
}

/** Codes of calls that were not made because of a value: it may come from an output that is not as declared. */
const ABOUT_VALUES: ReadonlySet<string> = new Set([
  "ARGUMENTS_INVALID",
  "CONDITION_INVALID",
  "CONTRACT_FIELD_MISSING",
  "ITEMS_INVALID",
  "REFERENCE_MISSING",
  "REFERENCE_UNRESOLVED",
]);

/** The step before a failed one whose output is not as its tool declares: the fault began there. */
function unexpectedOutput({ tools }: DiagnosisFacts, plan: PlanFact, failed: StepFact): string[] {
  if (!ABOUT_VALUES.has(failed.error?.code ?? "")) return [];
  const used = JSON.stringify(plan.document?.steps.find(({ id }) => id === failed.id) ?? "");
  for (const { id, item, tool, warnings, ...step } of plan.steps) {
    const warning = warnings.find((text) => text.startsWith(UNEXPECTED));
    if (warning === undefined || item !== null || !used.includes(`<<${id}`)) continue;
    const what = clipped(warning.slice(UNEXPECTED.length));
    return [
      `It uses the output of ${stepName({ ...step, tool })}, which is not as ${serverName(serverOf({ tools }, tool))} declares it (OUTPUT_UNEXPECTED): ${what}.`,
    ];
  }
  return [];
}

const UNEXPECTED = "OUTPUT_UNEXPECTED: ";

/** How often the step was tried, and how many other steps failed or were skipped. */
function circumstances(plan: PlanFact, { id, attempts }: StepFact): string[] {
  const steps = plan.steps.filter(({ item }) => item === null);
  const others = steps.filter((step) => step.status === "FAILED" && step.id !== id).length;
  const skipped = steps.filter(({ status }) => status === "SKIPPED").length;
  const parts = [
    ...(attempts.length > 0 ? [countText(attempts.length, "attempt")] : []),
    ...(others > 0 ? [`${others} more failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  return parts.length > 0 ? [`(${parts.join(", ")})`] : [];
}

function nextOf(
  facts: DiagnosisFacts,
  plan: PlanFact,
  step: StepFact | undefined,
  advice: StepAdvice & { code: string },
): NextAction[] {
  if (advice.action === "repeat") return repeatCalls(facts.request);
  if (advice.action === "correct") return correctPlan(facts, plan, step, advice);
  const description = advice.instruction.endsWith("; then") ? advice.instruction : `${advice.instruction}:`;
  return [rerun(facts.request, description)];
}

/** A failed call that may have acted: it is made once more only by its name. */
function repeatCalls(request: DiagnosisFacts["request"]): NextAction[] {
  const again = rerun(request, "Run what did not complete again:");
  if (request.plan?.origin.kind !== "model") return [again];
  return [
    again,
    replan(request, "Or have the planner replan the rest; it waits for approval before it repeats the call:"),
  ];
}

/** The reason and the first action for a tool that no server offers any more. */
interface ToolGone {
  reason: string;
  next: readonly NextAction[];
}

/** Most steps for which one action changes the tool. */
const MAX_STEPS = 100;

/** The server that offered the tool of a step when the plan was made; undefined when that is not recorded. */
function pinnedServer({ toolPins }: PlanFact, { tool }: StepFact): string | undefined {
  return toolPins?.find((pin) => pin.tool === tool)?.server ?? undefined;
}

/**
 * A tool that is no longer offered: why a server that lists it cannot offer it, or that its server is gone;
 * otherwise the tool of the same server that has the most similar name, because it may have been renamed. The
 * tool of another server is another tool, which is not called in its place. Pure.
 */
function diagnoseToolGone(facts: DiagnosisFacts, plan: PlanFact, step: StepFact): ToolGone {
  const { tool } = step;
  const name = clipped(tool, 128);
  const leftOut = findLeftOut(facts.leftOut, tool);
  const server = pinnedServer(plan, step);
  const sameServer = facts.tools.filter((known) => server === undefined || known.server === server);
  if (!leftOut && server !== undefined && sameServer.length === 0) {
    const reason = `No tool of server ${server} is known: it is not in the servers file of the executors, or has another name there.`;
    const description = `Put "${server}" back into the servers file of the executors and restart them; then`;
    return { reason, next: [rerun(facts.request, description)] };
  }
  const names = leftOut ? [] : sameServer.map((known) => known.name);
  const near = nearestName(tool, names);
  if (near === undefined) {
    const reason = leftOut
      ? `Server ${leftOut.server} lists ${name}, but it is left out because ${leftOut.reason}.`
      : `No server offers ${name} right now.`;
    const description = "Have the planner replan the rest with the current tools; completed steps are kept:";
    const next = plan.origin.kind === "model" ? [replan(facts.request, description)] : [];
    return { reason, next };
  }
  const paths = pathsOf(plan, tool);
  const description = `If ${near} is the same tool under another name, call it instead, with the same arguments; completed steps are kept:`;
  return {
    reason: `No server offers ${name} right now; the nearest name is ${near}.`,
    next:
      paths.length > 0 && paths.length <= MAX_STEPS
        ? [amendPart(facts.request, { paths, value: near }, description)]
        : [],
  };
}

/** The positions in the document that name the tool, as JSON Pointers. */
function pathsOf({ document }: PlanFact, tool: string): string[] {
  return (document?.steps ?? []).flatMap((step, index) =>
    toolOfStep(step) === tool ? [`/steps/${index}/${"forEach" in step ? "forEach/do/tool" : "tool"}`] : [],
  );
}
