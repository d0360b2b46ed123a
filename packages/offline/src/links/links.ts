import { linkedNoun, type Parameter, splitName, stem, type ToolWords } from "@planwright/models/words";
import type { JsonObject } from "@planwright/plan";
import type { MissingValue } from "../refusal/offline-errors.ts";

/** A step that was planned for an earlier clause, or for an earlier object of the same clause. */
export interface PlannedStep {
  id: string;
  words: ToolWords;
  arguments: JsonObject;
  dependsOn: string[];
  /** Position of its clause in the sentence, from 0. */
  clause: number;
  /** How many times "then" or a new sentence comes before it. */
  stage: number;
  /** The name of its object in the sentence, if the sentence gives one. */
  name: string | null;
  /** Required values that the sentence does not give. */
  missing: readonly MissingValue[];
}

/**
 * A reference from a step's output to what a parameter points to, such as `<<createAuthor._id>>`;
 * null when the step is about another kind of thing, or its tool does not say which field holds the id.
 */
export function linkTo(parameter: Parameter, step: PlannedStep): string | null {
  if (!parameter.link || step.words.isListing) return null;
  if (linkedNoun(parameter) === step.words.thing) return linkToThingOf(parameter, step);
  const field = namesOf(parameter).find((name) => step.words.outputs.has(name));
  // A step that got the id as an argument did not make the thing: an order's `customerId` does not make a
  // customer.
  const isMade = field !== undefined && step.words.parameters.every(({ name }) => name !== field);
  return isMade ? `<<${step.id}.${field}>>` : null;
}

/**
 * The same, even if the parameter is not named after the thing: "from Alice", when the parameter is
 * `senderId` and the step makes a user.
 */
export function linkToThingOf(parameter: Parameter, step: PlannedStep): string | null {
  if (!parameter.link || step.words.isListing) return null;
  const field = fieldFor(parameter.link.ending, parameter, step.words, step.words.outputs);
  return field === null ? null : `<<${step.id}.${field}>>`;
}

/** The parameter's name, and its name in the singular: `booking_ids` -> booking_id. */
function namesOf(parameter: Parameter): string[] {
  return parameter.name.endsWith("ids") ? [parameter.name.slice(0, -1), parameter.name] : [parameter.name];
}

function fieldFor(
  ending: string,
  parameter: Parameter,
  { thing }: ToolWords,
  fields: ReadonlySet<string>,
): string | null {
  const noun = thing ?? "";
  const capital = ending.charAt(0).toUpperCase() + ending.slice(1);
  const plain = ending === "id" ? ["_id", "id"] : [ending];
  const own = [...plain, `${noun}${capital}`, `${noun}_${ending}`, ...namesOf(parameter)];
  return [...own, ...own.map((field) => `${noun}.${field}`)].find((field) => fields.has(field)) ?? null;
}

/**
 * The kind of thing that a parameter is named after without "id": `project`, `to_account`; null for an id and
 * for other things.
 */
export function namedThing(parameter: Parameter, things: ReadonlySet<string>): string | null {
  const noun = stem(parameter.words.at(-1) ?? "");
  const isPlain = parameter.link === null && parameter.choices === null && parameter.shape === null;
  return isPlain && parameter.type !== "boolean" && things.has(noun) ? noun : null;
}

const ENDINGS = ["id", "key", "number", "slug", "name"];

/**
 * A reference for a parameter that is named after the step's thing. The parameter's description says which
 * field identifies the thing ("Key of the project").
 */
export function linkByThing(parameter: Parameter, step: PlannedStep): string | null {
  if (step.words.isListing || stem(parameter.words.at(-1) ?? "") !== step.words.thing) return null;
  const described = ENDINGS.filter((ending) => parameter.describedBy.has(ending));
  for (const ending of [...described, ...ENDINGS]) {
    const field = fieldFor(ending, parameter, step.words, step.words.outputs);
    if (field !== null) return `<<${step.id}.${field}>>`;
  }
  return null;
}

/**
 * A reference to one position in the list that a step returns, or to all of them.
 * @param place - from 0, or "*"
 * @returns null when the list contains other things
 */
export function linkIntoList(parameter: Parameter, step: PlannedStep, place: number | "*"): string | null {
  const { list, thing } = step.words;
  if (list === null) return null;
  const noun = linkedNoun(parameter) ?? stem(parameter.words.at(-1) ?? "");
  const item = `<<${step.id}${list.path}[${place}]`;
  if (list.fields.size === 0) return noun === thing ? `${item}>>` : null;
  const endings = parameter.link ? [parameter.link.ending] : ENDINGS;
  if (!parameter.link && noun !== thing) return null;
  const isOther = noun !== thing && !namesOf(parameter).some((name) => list.fields.has(name));
  if (isOther) return null;
  for (const ending of endings) {
    const field = fieldFor(ending, parameter, step.words, list.fields);
    if (field !== null) return `${item}.${field}>>`;
  }
  return null;
}

/**
 * Steps that have this name in the sentence: one of their texts is the name, or begins with it as a separate
 * word.
 */
export function stepsNamed(steps: readonly PlannedStep[], text: string): PlannedStep[] {
  const wanted = text.toLowerCase();
  const values = (step: PlannedStep) => {
    const given = step.words.parameters.flatMap(({ name, link }) => {
      const value = Object.hasOwn(step.arguments, name) ? step.arguments[name] : undefined;
      return link === null && typeof value === "string" ? [value.toLowerCase()] : [];
    });
    return step.name === null || !step.words.isMaking ? given : [step.name.toLowerCase(), ...given];
  };
  const exact = steps.filter((step) => values(step).includes(wanted));
  if (exact.length > 0 || wanted.length < 2) return exact;
  return steps.filter((step) => values(step).some((value) => value.startsWith(`${wanted} `)));
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

/** True when a step makes or finds a thing of this kind, or returns its id. */
export function isAbout(step: PlannedStep, noun: string): boolean {
  const { thing, outputs, parameters } = step.words;
  if (thing === noun) return true;
  return [...outputs].some((field) => {
    const words = splitName(field);
    return (
      words.length === 2 &&
      words[0] === noun &&
      words[1] === "id" &&
      parameters.every(({ name }) => name !== field)
    );
  });
}
