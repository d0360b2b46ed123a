import { DraftError } from "../draft-error.ts";
import { antecedentAt } from "./antecedents.ts";
import { bindArguments } from "./bind-arguments.ts";
import type { BoundObject } from "./bound-object.ts";
import type { Clause } from "./clauses.ts";
import { completeArguments } from "./complete.ts";
import type { PlannedStep } from "./links.ts";
import { bestMatches, matchTools, type ToolMatch } from "./match-tool.ts";
import { waitsFor } from "./ordering.ts";
import { misread } from "./reading.ts";
import { type Token, tokenize } from "./tokens.ts";
import type { ToolWords } from "./tool-words.ts";

/** A clause in its sentence. */
export interface ClauseInput {
  clause: Clause;
  /** Position of the clause, from 0. */
  index: number;
  /** Number of "then" in front of it. */
  stage: number;
  sentence: string;
  steps: readonly PlannedStep[];
  catalogue: readonly ToolWords[];
}

/** Tools that fit the clause; where its object is "it" or "the first one", by the thing that is meant. */
export function toolsFor({ clause, steps, catalogue }: ClauseInput): ToolMatch[] {
  const isNamed = clause.matches.some((match) => !match.isByVerb);
  if (isNamed || clause.verb === null) return clause.matches;
  const at = clause.rest[0]?.lower === "to" ? 1 : 0;
  const thing = antecedentAt({ tokens: clause.rest, steps }, at)?.thing ?? null;
  if (thing === null) return clause.matches;
  const found = matchTools(catalogue, clause.verb, tokenize(thing));
  return found.length > 0 ? found.map((match) => ({ ...match, consumed: 0 })) : clause.matches;
}

/**
 * The steps that one clause asks for. Where several tools fit equally well, their arguments decide; a tool that all values are given for
 * goes before one that lacks some. Steps with missing values come back too, to be asked for.
 * @throws {NotUnderstoodError}
 */
export function planClause(input: ClauseInput, matches: readonly ToolMatch[]): PlannedStep[] {
  const best = bestMatches(matches);
  const attempts = best.map((match) => attempt(input, match));
  const planned = attempts.filter((each) => Array.isArray(each));
  const complete = planned.filter((steps) => steps.every(({ missing }) => missing.length === 0));
  const [only, second] = complete.length > 0 ? complete : planned;
  if (only && second) {
    const names = best.map((match) => match.words.tool.name);
    throw misread({ clause: input.clause.text }, `it fits several tools: ${names.slice(0, 5).join(", ")}`);
  }
  if (only) return only;
  throw (
    attempts.find((each) => each instanceof DraftError) ??
    misread({ clause: input.clause.text }, "no tool fits it")
  );
}

function attempt(input: ClauseInput, match: ToolMatch): PlannedStep[] | DraftError {
  try {
    return stepsFor(input, match);
  } catch (error) {
    if (error instanceof DraftError) return error;
    throw error;
  }
}

function stepsFor(input: ClauseInput, match: ToolMatch): PlannedStep[] {
  const { clause, index, stage, sentence, steps, catalogue } = input;
  const { words } = match;
  const objects = bindArguments({
    sentence,
    clause: clause.text,
    words,
    tokens: withAdjectives(clause.rest.slice(match.consumed), match.adjectives),
    steps,
    things: new Set(catalogue.flatMap((each) => each.thing ?? [])),
    isPlural: clause.isPlural,
  });
  const counted = withCount(clause, words, objects);
  const taken = new Set(steps.map((step) => step.id));
  return counted.map((object) => {
    const completed = completeArguments({ object, words, steps, clause: clause.text });
    if (match.isByVerb && !object.isTyped && !completed.isLinked)
      throw misread({ clause: clause.text }, "it does not say what kind of thing is meant");
    const id = freeId(words.tool.name, taken);
    taken.add(id);
    return {
      id,
      words,
      arguments: completed.arguments,
      missing: completed.missing,
      dependsOn: waitsFor({ words, arguments: completed.arguments, isSequel: clause.isSequel, stage }, steps),
      clause: index,
      stage,
      name: object.name,
    };
  });
}

const LIMITS = new Set("limit max maximum count top size results".split(" "));

/** "list 5 posts" limits a list; "two authors" says how many objects the clause describes. @throws {NotUnderstoodError} */
function withCount(clause: Clause, words: ToolWords, objects: BoundObject[]): BoundObject[] {
  const { count } = clause;
  if (count === null || (count === objects.length && !words.isListing)) return objects;
  const limit = words.parameters.filter(
    (each) => each.type === "integer" && each.words.some((word) => LIMITS.has(word)),
  );
  const [parameter, second] = limit;
  const isFree =
    parameter && second === undefined && objects.every(({ values }) => !values.has(parameter.name));
  if (!words.isListing || !parameter || !isFree)
    throw misread({ clause: clause.text }, `it asks for ${count} and describes ${objects.length}`);
  return objects.map((object) => ({ ...object, values: new Map(object.values).set(parameter.name, count) }));
}

/** Arguments in front of the noun are read before the others. */
function withAdjectives(tokens: readonly Token[], adjectives: readonly Token[]): Token[] {
  const first = adjectives[0];
  if (!first) return [...tokens];
  const comma: Token = { kind: "mark", text: ",", lower: ",", start: first.start, end: first.start };
  return [...adjectives, comma, ...tokens];
}

/** The tool's name as a step id, with a number from the second use on: createAuthor, createAuthor2. */
function freeId(toolName: string, taken: ReadonlySet<string>): string {
  const plain = toolName.slice(toolName.lastIndexOf("/") + 1).replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const base = (/^[A-Za-z]/.test(plain) ? plain : `call_${plain}`).slice(0, 56);
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}${number}`;
  return id;
}
