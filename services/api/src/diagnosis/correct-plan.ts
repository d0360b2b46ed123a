/**
 * How a request continues whose failed call would fail again as it is: another argument, another part of the
 * plan, or a new plan of the planner. None of these starts over: completed steps are kept, and a step that may
 * have acted is named.
 */
import type { StepAdvice } from "@planwright/engine";
import { isForEachStep, type JsonValue, PLACEHOLDER, type Step, type ToolDescriptor } from "@planwright/plan";
import type { NextAction } from "./diagnosis.ts";
import type { DiagnosisFacts, ErrorFact, PlanFact, StepFact } from "./facts.ts";
import { amendPart, replan, rerun, showTool } from "./next-actions.ts";
import { clipped } from "./wording.ts";

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
export function correctPlan(
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
  const [from] = step.dependsOn;
  if (code === "CONTRACT_FIELD_MISSING" && from !== undefined) {
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
