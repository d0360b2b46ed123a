import {
  type Diagnostic,
  findTool,
  isJsonObject,
  type JsonObject,
  type Plan,
  type Step,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import type { ModelQuestion } from "../answer-text/questions-in.ts";
import type { DraftWithGaps } from "../questions/draft-with-gaps.ts";
import { gapsOfPlan } from "../questions/gaps-of-plan.ts";
import type { Gap } from "../questions/to-questions.ts";

/** A plan that lacks only values which the user must give. */
export interface OpenDraft {
  readonly draft: DraftWithGaps;
  /** At least one. */
  readonly gaps: readonly Gap[];
}

/**
 * A model's plan with the list of its missing values; undefined when the plan has other errors, or when the
 * model asks for something that is not an argument of its plan. A question belongs to the argument that it
 * names, or to the only one that it can mean. A gap may have no question.
 */
export function openDraft(
  plan: Plan,
  diagnostics: readonly Diagnostic[],
  { asked, tools }: { asked: readonly ModelQuestion[]; tools: readonly ToolDescriptor[] },
): OpenDraft | undefined {
  const found = gapsOfPlan(plan, diagnostics, { missing: asked.length > 0 });
  if (!found) return undefined;
  const gaps = [...found];
  for (const question of asked) {
    const index = meant(question, gaps, { isOnly: asked.length === 1 && found.length === 1 });
    const gap = gaps[index];
    if (gap) gaps[index] = { ...gap, question: question.question };
    else {
      const further = gapNamed(question, plan, tools);
      if (!further) return undefined;
      gaps.push(further);
    }
  }
  return gaps.length === 0 ? undefined : { draft: draftOf(plan), gaps };
}

/** Position of the gap that a question is about; -1 when it names none or could be about several. */
function meant(
  { step, parameter, question }: ModelQuestion,
  gaps: readonly Gap[],
  { isOnly }: { isOnly: boolean },
): number {
  const fits = gaps.map((gap) => {
    if (gap.question !== undefined) return false;
    if (parameter === undefined) return isOnly || mentions(question, nameOf(gap.keys));
    const isStep = step === undefined || step === gap.stepId || step === gap.tool;
    return (
      isStep &&
      (plain(parameter) === plain(nameOf(gap.keys)) || plain(parameter) === plain(gap.keys.join("")))
    );
  });
  return fits.filter(Boolean).length === 1 ? fits.indexOf(true) : -1;
}

const nameOf = (keys: readonly (string | number)[]) =>
  String(keys.findLast((key) => typeof key === "string") ?? "");
const plain = (name: string) => name.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
const mentions = (question: string, name: string) => {
  const words = question
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const wanted = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return wanted.every((word) => words.includes(word));
};

/**
 * A gap for an argument that the model asks for although its plan is valid without the answer: the argument
 * is optional, or the model has set a value.
 */
function gapNamed(
  { step, parameter, question }: ModelQuestion,
  plan: Plan,
  tools: readonly ToolDescriptor[],
): Gap | undefined {
  if (parameter === undefined) return undefined;
  const steps = plan.steps.filter(
    (each) => each.id === step || (step !== undefined && toolOfStep(each) === step),
  );
  const [only, second] = step === undefined && plan.steps.length === 1 ? plan.steps : steps;
  if (!only || second) return undefined;
  const tool = toolOfStep(only);
  const properties = findTool(tools, tool)?.inputSchema?.["properties"];
  const isKnown = isJsonObject(properties) && Object.hasOwn(properties, parameter);
  return isKnown ? { stepId: only.id, tool, keys: [parameter], question } : undefined;
}

/** The steps and outputs as JSON, without the fields that the host sets; the host sets them again. */
function draftOf({ steps, outputs }: Plan): DraftWithGaps {
  const document: { steps: JsonObject[]; outputs?: JsonObject[string] } = JSON.parse(
    JSON.stringify({ steps: steps.map(ofModel), outputs }),
  );
  return document;
}

function ofModel(step: Step): Partial<Step> {
  const { retry: _retry, timeoutMs: _timeoutMs, onError: _onError, ...own } = step;
  return own;
}
