import { isPlural, type Parameter, splitName, stem } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { ORDINALS, POINTERS, PRONOUNS } from "../text/lexicon.ts";
import type { Token } from "../text/tokens.ts";
import { isAbout, latestLink, linkByThing, linkIntoList, linkTo, type PlannedStep } from "./links.ts";
import { outputsFor } from "./outputs.ts";

/** The meaning of "it", "them", "the results", "its content", "that blog" or "the first one". */
export interface Antecedent {
  /** The first position after the words. */
  next: number;
  /** The kind of thing meant, where the steps say it. */
  thing: string | null;
  /** The steps meant; empty when an item of a list is meant. */
  steps: readonly PlannedStep[];
  /** References to the things, for a parameter that takes such references; else empty. */
  idsFor: (parameter: Parameter) => JsonValue[];
  /** References to the whole outputs, in the form that the parameter takes; null when it can take none. */
  outputsFor: (parameter: Parameter) => JsonValue | null;
}

const RESULT_WORDS = new Set("result results output outputs answer answers response responses".split(" "));
const MANY = new Set("them these those both".split(" "));

/**
 * Finds the earlier thing that the words at a position mean; null when they do not point back, or when no
 * earlier step fits.
 */
export function antecedentAt(
  { tokens, steps }: { tokens: readonly Token[]; steps: readonly PlannedStep[] },
  at: number,
): Antecedent | null {
  const token = tokens[at];
  const last = steps.at(-1);
  if (token?.kind !== "word" || !last) return null;
  return (
    placedAt({ tokens, steps, last }, at) ??
    (PRONOUNS.has(token.lower) && !isNoun(tokens[at + 1], steps)
      ? pronoun(token.lower, steps, last, at + 1)
      : nounAt({ tokens, steps, last }, at))
  );
}

/** "that blog": the word before a noun is no pronoun. */
const isNoun = (token: Token | undefined, steps: readonly PlannedStep[]) =>
  token?.kind === "word" &&
  (RESULT_WORDS.has(token.lower) ||
    steps.some((step) => isAbout(step, stem(token.lower)) || fieldOf(step, token.lower)));

interface Place {
  tokens: readonly Token[];
  steps: readonly PlannedStep[];
  last: PlannedStep;
}

/** "the first one", "the second blog", "first result". */
function placedAt({ tokens, steps, last }: Place, at: number): Antecedent | null {
  const start = tokens[at]?.lower === "the" ? at + 1 : at;
  const said = tokens[start]?.lower ?? "";
  const noun = tokens[start + 1];
  if (!ORDINALS.has(said) || noun?.kind !== "word") return null;
  const place = ORDINALS.get(said) ?? 0;
  const isAny = noun.lower === "one" || RESULT_WORDS.has(noun.lower);
  const thing = isAny ? last.words.thing : stem(noun.lower);
  const found = steps.findLast((step) => thing !== null && isAbout(step, thing));
  if (!found) return null;
  const next = start + 2;
  if (found.words.isListing) return inList(found, place, next);
  const made = steps.filter((step) => step.words === found.words && !step.words.isListing);
  const meant = made.at(place);
  return meant && made.length > 1 ? pointTo([meant], null, next) : null;
}

/** One item of a list, or all of them. */
function inList(step: PlannedStep, place: number | "*", next: number): Antecedent | null {
  if (place === -1) return null;
  return {
    next,
    thing: step.words.thing,
    steps: [],
    idsFor: (parameter) => idsIn(parameter, step, place),
    outputsFor: (parameter) => (place === "*" ? outputsFor(parameter, [step], null) : null),
  };
}

/**
 * The thing of the last step. When it gives no value for the parameter: the thing made last that the
 * parameter can refer to.
 */
function idsBefore(parameter: Parameter, steps: readonly PlannedStep[], last: Antecedent): JsonValue[] {
  const ids = last.idsFor(parameter);
  if (ids.length > 0 || steps.at(-1)?.words.isListing !== false) return ids;
  const latest = latestLink(parameter, steps);
  if (latest !== null) return latest === "ambiguous" ? [] : [latest.reference];
  const known = steps.flatMap((step) => identityOf(parameter, step) ?? []);
  return known.slice(-1);
}

function idsIn(parameter: Parameter, step: PlannedStep, place: number | "*"): JsonValue[] {
  const reference = linkIntoList(parameter, step, place);
  return reference === null ? [] : [reference];
}

function pronoun(said: string, steps: readonly PlannedStep[], last: PlannedStep, next: number): Antecedent {
  const ofClause = steps.filter((step) => step.clause === last.clause);
  if (!MANY.has(said)) {
    const one = pointTo(ofClause, null, next);
    if (ofClause.length > 1) return { ...one, idsFor: () => [] };
    return { ...one, idsFor: (parameter) => idsBefore(parameter, steps, one) };
  }
  const isList = ofClause.length === 1 && last.words.isListing;
  const group = ofClause.length > 1 || isList ? ofClause : steps.filter((step) => step.stage === last.stage);
  const many = pointTo(group, null, next);
  // "them" of a list goes to a parameter that takes many; a call for each of them would need the list.
  if (isList)
    return {
      ...many,
      idsFor: (parameter) => (parameter.type === "array" ? idsIn(parameter, last, "*") : []),
    };
  const idsFor = (parameter: Parameter) => (many.idsFor(parameter).length > 1 ? many.idsFor(parameter) : []);
  return { ...many, idsFor };
}

/** "the results", "that blog", "its content". */
function nounAt({ tokens, steps, last }: Place, at: number): Antecedent | null {
  const pointer = tokens[at]?.lower ?? "";
  const noun = POINTERS.has(pointer) || pointer === "all" ? tokens[at + 1] : undefined;
  if (noun?.kind !== "word") return null;
  const next = at + 2;
  const ofClause = (clause: number) => steps.filter((step) => step.clause === clause);
  if (RESULT_WORDS.has(noun.lower))
    return pointTo(isPlural(noun.lower) ? ofStage(steps, last) : ofClause(last.clause), null, next);
  const said = stem(noun.lower);
  const field = fieldOf(last, noun.lower);
  const maker = steps.findLast((step) => isAbout(step, said) || step.words.describedNouns.includes(said));
  if (maker && (isAbout(maker, said) || field === undefined)) {
    const makers = ofClause(maker.clause).filter((step) => step.words === maker.words);
    if (maker.words.isListing) return isPlural(noun.lower) ? inList(maker, "*", next) : null;
    const isAll = isPlural(noun.lower) || makers.length === 1 || !isAbout(maker, said) || !hasIds(maker);
    return isAll ? pointTo(makers, null, next) : null;
  }
  return field !== undefined && ofClause(last.clause).length === 1 ? pointTo([last], field, next) : null;
}

/** "The results" are those of the last clause, or of all clauses since the last "then". */
const ofStage = (steps: readonly PlannedStep[], last: PlannedStep) =>
  steps.filter((step) => step.stage === last.stage);

const fieldOf = (step: PlannedStep, word: string) =>
  [...step.words.outputs].find((name) => name.toLowerCase() === word);

/** A tool that makes one thing at a time with an id: "the blog" then means one of several. */
const hasIds = (step: PlannedStep) =>
  [...step.words.outputs].some((field) => splitName(field).at(-1) === "id");

function pointTo(steps: readonly PlannedStep[], field: string | null, next: number): Antecedent {
  return {
    next,
    thing: steps.at(-1)?.words.thing ?? null,
    steps,
    idsFor: (parameter) => (field === null ? steps.flatMap((step) => identityOf(parameter, step) ?? []) : []),
    outputsFor: (parameter) => outputsFor(parameter, steps, field),
  };
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
