import {
  CONTENT_NAMES,
  isPlural,
  isReadingVerb,
  linkedNoun,
  type Parameter,
  splitName,
  stem,
  type ToolWords,
} from "@planwright/models/words";
import type { JsonObject, JsonValue } from "@planwright/plan";
import { POINTERS, PRONOUNS } from "./match-tool.ts";
import type { MissingValue } from "./offline-errors.ts";
import type { Token } from "./tokens.ts";

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

/** True when a step makes or finds a thing of this kind, or returns its id. */
function isAbout(step: PlannedStep, noun: string): boolean {
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

/** Parameters that name the same thing in every tool of its kind. */
const SHARED_NAMES = new Set("path filename file url uri email phone".split(" "));

/**
 * The id of the thing that a step made, or the argument that names it in the step: the path of a file that
 * was written.
 */
export function identityOf(parameter: Parameter, step: PlannedStep): JsonValue | null {
  const link = linkTo(parameter, step) ?? (parameter.link ? null : linkByThing(parameter, step));
  if (link !== null) return link;
  if (parameter.link && parameter.link.thing === step.words.thing && !step.words.isListing)
    return Object.hasOwn(step.arguments, parameter.name) ? (step.arguments[parameter.name] ?? null) : null;
  const shape = parameter.shape ?? parameter.item?.shape ?? null;
  const shared = shape === "email" ? "email" : (parameter.words.at(-1) ?? "");
  if (parameter.link || step.words.isListing || !SHARED_NAMES.has(shared)) return null;
  const isShared = (name: string) => splitName(name).at(-1) === shared;
  const outputs = [...step.words.outputs].filter(isShared);
  const output = outputs.includes(parameter.name)
    ? parameter.name
    : outputs.length === 1
      ? outputs[0]
      : undefined;
  if (output !== undefined) return `<<${step.id}.${output}>>`;
  const names = Object.keys(step.arguments).filter(isShared);
  const name = names.includes(parameter.name) ? parameter.name : names.length === 1 ? names[0] : undefined;
  return name === undefined ? null : (step.arguments[name] ?? null);
}

/**
 * The path of the text in a step's output: its only text, or the field that contains the text; null when the
 * output is more than a text.
 */
function textField({ words }: PlannedStep): string | null {
  return CONTENT_NAMES.find((name) => words.outputs.has(name)) ?? words.onlyText;
}

/**
 * Outputs of steps as one text. A text field of a single step is used alone. A whole output becomes part of a
 * longer text, because a reference that is the complete value would keep its type.
 */
export function outputsAsText(steps: readonly PlannedStep[]): string {
  const [first, second] = steps;
  const reference = (step: PlannedStep) => {
    const field = textField(step);
    return field === null ? `<<${step.id}>>` : `<<${step.id}.${field}>>`;
  };
  if (!first || second) return steps.map(reference).join("\n");
  return textField(first) === null ? `${first.id}: ${reference(first)}` : reference(first);
}

/**
 * Outputs of steps, in the form that a parameter takes; null when it can take none.
 * @param field - the field of their outputs, for "their titles"
 */
export function outputsFor(
  parameter: Parameter,
  steps: readonly PlannedStep[],
  field: string | null,
): JsonValue | null {
  if (parameter.choices !== null || parameter.link !== null || parameter.shape !== null) return null;
  const chosen = steps.map((step) => (field === null ? `<<${step.id}>>` : `<<${step.id}.${field}>>`));
  if (parameter.type === "string") return field === null ? outputsAsText(steps) : chosen.join("\n");
  if (parameter.type !== "array" || parameter.item?.link) return null;
  return parameter.item?.type === "string" && field === null
    ? steps.map((step) => outputsAsText([step]))
    : chosen;
}

/** A step that is being planned: the parts that decide its order. */
interface NewStep {
  words: ToolWords;
  arguments: JsonObject;
  /** True when "then" or a new sentence comes before its clause. */
  isSequel: boolean;
  stage: number;
}

/**
 * Steps that a new step has to wait for although no reference says so. After "then" these are all steps of
 * the previous stage, unless the new step refers to one of them. It also waits for other steps that change
 * the thing that it uses ("add a line to that order, pay for it").
 */
export function waitsFor(step: NewStep, earlier: readonly PlannedStep[]): string[] {
  const before = step.isSequel ? earlier.filter(({ stage }) => stage === step.stage - 1) : [];
  const used = earlier.filter(({ id }) => refersTo(step.arguments, id));
  const sequence = before.some((each) => used.includes(each)) ? [] : before;
  const waited = [...sequence, ...othersAt(step, used, earlier)];
  const ids = [...new Set(waited.map(({ id }) => id))];
  return ids.filter((id) => !ids.some((other) => other !== id && follows(other, id, earlier)));
}

/**
 * Earlier steps that change the things that a step uses. A step that makes a new thing need not wait for
 * them.
 */
function othersAt(
  step: NewStep,
  used: readonly PlannedStep[],
  earlier: readonly PlannedStep[],
): PlannedStep[] {
  if (step.words.isMaking) return [];
  return earlier.filter(
    (each) =>
      !used.includes(each) &&
      !isReadingVerb(each.words.verbs[0] ?? "") &&
      used.some(({ id }) => refersTo(each.arguments, id)),
  );
}

const refersTo = (given: JsonObject, id: string) => new RegExp(`<<${id}[.\\[>]`).test(JSON.stringify(given));

/** True when the first step comes after the second one by references or dependencies. */
function follows(
  id: string,
  other: string,
  steps: readonly PlannedStep[],
  seen = new Set<string>(),
): boolean {
  const step = steps.find((each) => each.id === id);
  if (!step || seen.has(id)) return false;
  seen.add(id);
  const parents = steps.filter(
    (each) => step.dependsOn.includes(each.id) || refersTo(step.arguments, each.id),
  );
  return parents.some((each) => each.id === other || follows(each.id, other, steps, seen));
}

/** What "it", "them", "the results" or "that blog" means. */
export interface Pointed {
  /** The words as in the sentence. */
  said: string;
  /** The first position behind the words. */
  next: number;
  steps: readonly PlannedStep[];
  /** True when the words mean all of these steps, not one. */
  isMany: boolean;
  /** True for "it" and "her", which may mean an older thing when the last step made none that fits. */
  isPronoun: boolean;
}

const RESULTS = new Set("result results output outputs answer answers".split(" "));
const MANY = new Set("them these those".split(" "));

/** The earlier steps that the words at a position mean; null when the words point to none. */
export function pointedAt(
  tokens: readonly Token[],
  at: number,
  steps: readonly PlannedStep[],
): Pointed | null {
  const [token, noun] = [tokens[at], tokens[at + 1]];
  const last = steps.at(-1);
  if (token?.kind !== "word" || !last) return null;
  const behind = noun?.kind === "word" ? noun.lower : "";
  if (POINTERS.has(token.lower) && behind !== "") {
    const found = RESULTS.has(behind)
      ? steps.filter(({ stage }) => stage === last.stage)
      : latestAbout(stem(behind), steps);
    const isMany = isPlural(behind);
    if (found.length > 0)
      return { said: `${token.text} ${noun?.text}`, next: at + 2, steps: found, isMany, isPronoun: false };
  }
  if (!PRONOUNS.has(token.lower)) return null;
  const found = steps.filter(({ clause }) => clause === last.clause);
  return { said: token.text, next: at + 1, steps: found, isMany: MANY.has(token.lower), isPronoun: true };
}

/** The steps about a kind of thing, of the last clause that has any. */
function latestAbout(noun: string, steps: readonly PlannedStep[]): PlannedStep[] {
  const about = steps.filter((step) => isAbout(step, noun) || step.words.describedNouns.includes(noun));
  const own = about.filter((step) => isAbout(step, noun));
  const found = own.length > 0 ? own : about;
  return found.filter(({ clause }) => clause === found.at(-1)?.clause);
}

/** Values for a parameter from the steps that are meant: their ids or names, else nothing. */
export function idsOf(
  parameter: Parameter,
  { steps, isPronoun }: Pointed,
  all: readonly PlannedStep[],
): JsonValue[] {
  const ids = steps.flatMap((step) => identityOf(parameter, step) ?? []);
  if (ids.length > 0 || !isPronoun || steps.some(({ words }) => words.isListing)) return ids;
  return latestIds(parameter, all);
}

/** The ids that the last clause with any gives to a parameter. */
function latestIds(parameter: Parameter, steps: readonly PlannedStep[]): JsonValue[] {
  const giving = steps.flatMap((step) => {
    const id = linkTo(parameter, step);
    return id === null ? [] : [{ id, clause: step.clause }];
  });
  return giving.filter(({ clause }) => clause === giving.at(-1)?.clause).map(({ id }) => id);
}

/**
 * The earlier thing that a required link means when the clause does not mention it: the only one. With
 * `isPointing` ("that blog") the one made last.
 */
export function impliedLink(
  parameter: Parameter,
  steps: readonly PlannedStep[],
  isPointing: boolean,
): { value: JsonValue } | "several" | null {
  const ids = isPointing
    ? latestIds(parameter, steps)
    : [...new Set(steps.flatMap((step) => linkTo(parameter, step) ?? []))];
  const [only, second] = ids;
  if (second !== undefined) return "several";
  return only === undefined ? null : { value: parameter.type === "array" ? [only] : only };
}
