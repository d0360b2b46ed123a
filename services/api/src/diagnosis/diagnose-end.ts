import { type StepAdvice, stepAdvice } from "@planwright/engine";
import {
  countText,
  findLeftOut,
  isForEachStep,
  type JsonValue,
  nearestName,
  PLACEHOLDER,
  referencedSteps,
  type Step,
  stepsInDoubt,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { diagnoseDoubt, withDoubt } from "./diagnose-doubt.ts";
import {
  clipped,
  type NextAction,
  type PartialDiagnosis,
  problem,
  serverName,
  stepName,
} from "./diagnosis.ts";
import {
  type DiagnosisFacts,
  type ErrorFact,
  leftText,
  type PlanFact,
  type StepFact,
  serverOf,
} from "./facts.ts";
import { amendPart, follow, goBack, replan, rerun, showTool } from "./next-actions.ts";

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
    message: "every step that had to be done is done",
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
  const { document } = plan;
  const own = document?.steps.find(({ id }) => id === failed.id);
  const used = document && own ? referencedSteps(own, document) : [];
  for (const { id, item, tool, warnings, ...step } of plan.steps) {
    const warning = warnings.find((text) => text.startsWith(UNEXPECTED));
    if (warning === undefined || item !== null || !used.includes(id)) continue;
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

/** Most codes and lists that are named; the others are counted. */
const MAX_NAMED = 3;

/** A forEach step that completed although some of its items failed. */
interface PartlyDone {
  list: StepFact;
  /** Without those that its condition skipped. */
  items: number;
  failedCount: number;
  /** Of very many the first ones. */
  failed: readonly StepFact[];
}

/**
 * A plan that is PARTIAL although every step is COMPLETED: items of a list failed, but no more than the list
 * allows. Undefined when there is no such list.
 */
function diagnoseLists(facts: DiagnosisFacts, plan: PlanFact): PartialDiagnosis | undefined {
  const [first, ...others] = partlyDone(plan);
  const [item] = first?.failed ?? [];
  if (!first || !item) return undefined;
  const error = item.error ?? { code: "TOOL_FAILED", message: "no message" };
  const advice = stepAdvice(error.code, serverOf(facts, item.tool), item);
  const named = others.slice(0, MAX_NAMED).map(({ list, ...rest }) => `${stepName(list)} ${shareOf(rest)}`);
  const more = others.length > MAX_NAMED ? [`${others.length - MAX_NAMED} more lists`] : [];
  const also = others.length > 0 ? ` Also ${[...named, ...more].join(", ")}.` : "";
  return {
    code: "ITEMS_FAILED",
    message: `${shareOf(first)} of step ${stepName(first.list)} failed: ${codesOf(first.failed)}`,
    errorCode: error.code,
    reasons: [
      `Item ${item.item ?? 0}: ${problem(error)}. ${advice.why}${also}`,
      "Enough items succeeded for the plan, so the step is COMPLETED; because of the failed items its plan is PARTIAL at best.",
    ],
    stepKeys: first.failed.map(({ key }) => key),
    since: plan.finishedAt,
    next: nextOfList(facts, advice),
  };
}

function partlyDone({ steps, itemCounts }: PlanFact): PartlyDone[] {
  return steps
    .filter(({ item, status }) => item === null && status === "COMPLETED")
    .map((list) => {
      const counts = itemCounts.get(list.id) ?? {};
      const items = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const failed = steps.filter(
        ({ id, item, status }) => id === list.id && item !== null && status === "FAILED",
      );
      return { list, items: items - (counts.SKIPPED ?? 0), failedCount: counts.FAILED ?? 0, failed };
    })
    .filter(({ failed }) => failed.length > 0);
}

const shareOf = ({ items, failedCount }: Pick<PartlyDone, "items" | "failedCount">) =>
  `${failedCount} of ${countText(items, "item")}`;

/** The codes of failed items in order, each with its count if there are several. */
function codesOf(failed: readonly StepFact[]): string {
  const counts = new Map<string, number>();
  for (const { error } of failed) {
    const code = error?.code ?? "TOOL_FAILED";
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const codes = [...counts].map(
    ([code, times]) => `${clipped(code, 64)}${counts.size > 1 ? ` (${times})` : ""}`,
  );
  const more = codes.length - MAX_NAMED;
  return [...codes.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more codes`] : [])].join(", ");
}

/** The same calls again; or a new plan if those would fail again. */
function nextOfList({ request }: DiagnosisFacts, { instruction, action }: StepAdvice): NextAction[] {
  const isCorrected = action === "correct" || action === "repeat";
  const first = isCorrected ? "If the reason lay outside and is gone, call" : `${instruction}, call`;
  const again = rerun(request, `${first} exactly the failed items again; completed items are kept:`);
  if (!isCorrected || request.plan?.origin.kind !== "model") return [again];
  return [again, replan(request, "Or have the planner replan the rest, knowing the failures:")];
}

/*
 * How a request continues whose failed call would fail again as it is: another argument, another part of the
 * plan, or a new plan of the planner. None of these starts over: completed steps are kept, and a step that may
 * have acted is named.
 */

/** The part of a step that is wrong, for errors that are not about an argument; a JSON Pointer below the step. */
const WRONG_PART: Readonly<Record<string, string>> = {
  CONDITION_INVALID: "when",
  CONDITION_FALSE: "when",
  ITEMS_INVALID: "forEach/items",
  ITEMS_TOO_LARGE: "forEach/items",
};

/**
 * The actions that correct the plan after this failure, the best one first. Pure.
 * @param step - the step that failed first; undefined when no step did, but a requested output is missing
 */
function correctPlan(
  facts: DiagnosisFacts,
  plan: PlanFact,
  step: StepFact | undefined,
  advice: Advice,
): NextAction[] {
  const { request } = facts;
  const isModels = plan.origin.kind === "model";
  const correction = step ? correctStep(facts, plan, step, advice) : correctOutputs(request);
  const another = isModels
    ? replan(request, "Have the planner replan the rest, knowing the failures; completed steps are kept:")
    : rerun(request, "If the reason lay outside and is gone, let what failed run again:");
  const isChanged = step !== undefined && advice.code === "TOOL_CHANGED" && !isModels;
  if (!correction) return [another];
  // What the tool's own words name is corrected at once. Otherwise the planner corrects it, if there is one;
  // and an argument that is only guessed comes last.
  const { action, certainty } = correction;
  const isFirst = certainty === "named" || (certainty === "part" && !isModels);
  // A new argument is required: the same call would be refused.
  if (isFirst && isChanged) return [action, showTool(step.tool, "See the tool as it is now:")];
  return isFirst ? [action, another] : [another, action];
}

type Advice = Pick<StepAdvice, "instruction"> & { code: string };

/** A correction by hand. */
interface Correction {
  action: NextAction;
  /** named: the error names what is to be corrected. part: the code does. guess: only the step is known. */
  certainty: "named" | "part" | "guess";
}

function correctOutputs(request: DiagnosisFacts["request"]): Correction {
  const description =
    "Correct the outputs of the plan; completed steps are kept, and nothing is called again:";
  const action = amendPart(request, { paths: ["/outputs"], value: PLACEHOLDER }, description);
  return { action, certainty: "part" };
}

function correctStep(
  { request, tools }: DiagnosisFacts,
  { document }: PlanFact,
  { id, item, error, tool }: StepFact,
  { instruction, code }: Advice,
): Correction | undefined {
  const index = document?.steps.findIndex((one) => one.id === id) ?? -1;
  const step = document?.steps[index];
  // The other items of a list are called with the same arguments, and most of them completed.
  const isOfItems = item !== null && code === "CONDITION_INVALID";
  if (!step || (item !== null && !isOfItems)) return undefined;
  const description = `${instruction}; then run what did not complete. Completed steps are kept:`;
  const part = isOfItems ? "forEach/when" : WRONG_PART[code];
  if (part !== undefined) {
    const paths = [`/steps/${index}/${part}`];
    return { action: amendPart(request, { paths, value: PLACEHOLDER }, description), certainty: "part" };
  }
  if (code === "CONTRACT_FIELD_MISSING") {
    const from = stepWithoutField(document, step, error);
    if (from === undefined) return undefined;
    const again = `Have the field returned; then call ${from} again, and what depends on it:`;
    return { action: rerun(request, again, { from }), certainty: "part" };
  }
  const known = tools.find(({ name }) => name === tool);
  const named = argumentToCorrect(step, known, error);
  if (!named) return undefined;
  // A tool that has changed accepts the same arguments, unless a new one is required.
  if (code === "TOOL_CHANGED" && !named.isMissing)
    return {
      action: rerun(request, "Look at the current tool. To call it as it is now:"),
      certainty: "part",
    };
  const needs = `${tool} now requires ${named.name}: give its value, and run what did not complete. Completed steps are kept:`;
  const says = code === "TOOL_CHANGED" ? clipped(needs) : description;
  const action = rerun(request, says, { correct: { stepId: id, name: named.name } });
  return { action, certainty: named.certainty };
}

/**
 * The step whose output lacks a field: the one that the error names. Undefined if it cannot be told, because another
 * step would act again in its place.
 */
function stepWithoutField(
  document: PlanFact["document"],
  { dependsOn }: Step,
  error: ErrorFact | null,
): string | undefined {
  const named = document?.steps.find(({ id }) => error?.message.includes(`'${id}'`));
  return named?.id ?? (dependsOn.length === 1 ? dependsOn[0] : undefined);
}

/** Errors of references: an argument that has one is to be corrected. */
const ABOUT_REFERENCES: ReadonlySet<string> = new Set(["REFERENCE_MISSING", "REFERENCE_UNRESOLVED"]);
/** Shorter texts occur in messages by chance. */
const MIN_VALUE_LENGTH = 3;

/**
 * The argument that a failed call needs otherwise: a parameter that the tool requires and the step does not
 * give; the one that the error names; the one whose value the error repeats; with a reference, for errors of
 * references. If there is none of these it is the first argument, which is a guess. Undefined for a call
 * without arguments. Pure.
 */
function argumentToCorrect(
  step: Step,
  tool: ToolDescriptor | undefined,
  error: ErrorFact | null,
): { name: string; isMissing: boolean; certainty: "named" | "guess" } | undefined {
  const given: Readonly<Record<string, JsonValue>> = isForEachStep(step)
    ? step.forEach.do.arguments
    : step.arguments;
  const names = Object.keys(given);
  const missing = requiredBy(tool).find((name) => !names.includes(name));
  if (missing !== undefined) return { name: missing, isMissing: true, certainty: "named" };
  const message = error?.message ?? "";
  const longestFirst = [...new Set([...names, ...parametersOf(tool)])].toSorted(
    (a, b) => b.length - a.length,
  );
  const withReference = ABOUT_REFERENCES.has(error?.code ?? "")
    ? names.find((name) => /<<|\{\{|\$ref:/.test(JSON.stringify(given[name])))
    : undefined;
  const named =
    longestFirst.find((name) => namesWord(message, name)) ??
    names.find((name) => repeats(message, given[name])) ??
    withReference;
  if (named !== undefined) return { name: named, isMissing: false, certainty: "named" };
  const [first] = names;
  return first === undefined ? undefined : { name: first, isMissing: false, certainty: "guess" };
}

/** True when the message has this name as a word of its own, in any case, `author_id` also for `authorId`. */
function namesWord(message: string, name: string): boolean {
  const words = (text: string): string =>
    ` ${text
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim()
      .toLowerCase()} `;
  const wanted = words(name);
  return wanted.trim() !== "" && words(message).includes(wanted);
}

function repeats(message: string, value: JsonValue | undefined): boolean {
  return typeof value === "string" && value.length >= MIN_VALUE_LENGTH && message.includes(value);
}

function requiredBy(tool: ToolDescriptor | undefined): string[] {
  const required: unknown = tool?.inputSchema?.["required"];
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function parametersOf(tool: ToolDescriptor | undefined): string[] {
  const properties: unknown = tool?.inputSchema?.["properties"];
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}
