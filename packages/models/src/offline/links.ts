import type { JsonObject } from "@planwright/plan";
import { CONTENT_NAMES } from "./lexicon.ts";
import type { Parameter } from "./parameter.ts";
import type { ToolWords } from "./tool-words.ts";

/** A step that an earlier clause, or an earlier object of the same clause, became. */
export interface PlannedStep {
  id: string;
  words: ToolWords;
  arguments: JsonObject;
  dependsOn: string[];
  /** Position of its clause in the sentence, from 0. */
  clause: number;
}

/**
 * A reference from a step's output to what a parameter points to, such as `<<createAuthor._id>>`;
 * null when the step is about another kind of thing, or its tool does not say which field holds the id.
 */
export function linkTo(parameter: Parameter, step: PlannedStep): string | null {
  if (!parameter.link || step.words.isListing) return null;
  const noun = parameter.link.thing.split(" ").at(-1) ?? "";
  if (noun === step.words.thing) return linkToThingOf(parameter, step);
  const isNamed = step.words.thing === null && step.words.outputs.has(parameter.name);
  return isNamed ? `<<${step.id}.${parameter.name}>>` : null;
}

/** The same, whatever the parameter calls the thing: for "from Alice" where the parameter is `senderId` and the step makes a user. */
export function linkToThingOf(parameter: Parameter, step: PlannedStep): string | null {
  if (!parameter.link || step.words.isListing) return null;
  const field = fieldFor(parameter.link.ending, parameter.name, step.words);
  return field === null ? null : `<<${step.id}.${field}>>`;
}

function fieldFor(ending: string, name: string, { outputs, thing }: ToolWords): string | null {
  const noun = thing ?? "";
  const capital = ending.charAt(0).toUpperCase() + ending.slice(1);
  const plain = ending === "id" ? ["_id", "id"] : [ending];
  const own = [...plain, `${noun}${capital}`, `${noun}_${ending}`, name];
  return [...own, ...own.map((field) => `${noun}.${field}`)].find((field) => outputs.has(field)) ?? null;
}

/** Steps one of whose argument values, other than ids, is this text, or begins with it as a word of its own. */
export function stepsNamed(steps: readonly PlannedStep[], text: string): PlannedStep[] {
  const wanted = text.toLowerCase();
  const values = (step: PlannedStep) =>
    step.words.parameters.flatMap(({ name, link }) => {
      const value = Object.hasOwn(step.arguments, name) ? step.arguments[name] : undefined;
      return link === null && typeof value === "string" ? [value.toLowerCase()] : [];
    });
  const exact = steps.filter((step) => values(step).includes(wanted));
  if (exact.length > 0 || wanted.length < 2) return exact;
  return steps.filter((step) => values(step).some((value) => value.startsWith(`${wanted} `)));
}

/**
 * What steps gave, as one text. A text field of a single step stands for itself; anything else becomes part of a longer text,
 * for a reference that is the whole of a value would keep its type.
 */
export function outputsAsText(steps: readonly PlannedStep[]): string {
  const [first, second] = steps;
  if (!first || second) return steps.map((step) => `<<${step.id}>>`).join("\n");
  const field = CONTENT_NAMES.find((name) => first.words.outputs.has(name));
  return field === undefined ? `${first.id}: <<${first.id}>>` : `<<${first.id}.${field}>>`;
}

/** What the words leave open when they point to something made before. */
export type Latest = { step: PlannedStep; reference: string } | "ambiguous" | null;

/** The step made last that a parameter can point to; "ambiguous" when one clause made several. */
export function latestLink(parameter: Parameter, steps: readonly PlannedStep[]): Latest {
  const linked = steps.flatMap((step) => {
    const reference = linkTo(parameter, step);
    return reference === null ? [] : [{ step, reference }];
  });
  const last = linked.at(-1);
  if (!last) return null;
  return linked.filter(({ step }) => step.clause === last.step.clause).length > 1 ? "ambiguous" : last;
}
