import type { JsonObject } from "@planwright/plan";
import { DraftError } from "../draft-error.ts";
import { bindArguments } from "./bind-arguments.ts";
import type { Clause } from "./clauses.ts";
import { completeArguments } from "./complete.ts";
import { PRONOUNS } from "./lexicon.ts";
import type { PlannedStep } from "./links.ts";
import { bestMatches, matchTools, type ToolMatch } from "./match-tool.ts";
import { misread } from "./reading.ts";
import { type Token, tokenize } from "./tokens.ts";
import type { ToolWords } from "./tool-words.ts";

/** A clause in its sentence. */
export interface ClauseInput {
  clause: Clause;
  /** Position of the clause, from 0. */
  index: number;
  sentence: string;
  steps: readonly PlannedStep[];
  catalogue: readonly ToolWords[];
}

/** Tools that fit the clause; where its object is "it" or "them", by the thing that was made last. */
export function toolsFor({ clause, steps, catalogue }: ClauseInput): ToolMatch[] {
  if (clause.matches.length > 0 || clause.verb === null) return clause.matches;
  const thing = steps.at(-1)?.words.thing;
  if (!thing || !PRONOUNS.has(clause.rest[0]?.lower ?? "")) return [];
  return matchTools(catalogue, clause.verb, tokenize(thing)).map((match) => ({ ...match, consumed: 0 }));
}

/**
 * The steps that one clause asks for. Where several tools fit equally well, their arguments decide.
 * @throws {NotUnderstoodError} @throws {ValueMissingError}
 */
export function planClause(input: ClauseInput, matches: readonly ToolMatch[]): PlannedStep[] {
  const attempts = bestMatches(matches).map((match) => attempt(input, match));
  const planned = attempts.filter((each) => Array.isArray(each));
  const [only, second] = planned;
  if (only && second) {
    const names = bestMatches(matches).map((match) => match.words.tool.name);
    throw misread({ clause: input.clause.text }, `it fits several tools: ${names.join(", ")}`);
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

function stepsFor(
  { clause, index, sentence, steps, catalogue }: ClauseInput,
  { words, consumed, adjectives }: ToolMatch,
): PlannedStep[] {
  const objects = bindArguments({
    sentence,
    clause: clause.text,
    words,
    verb: words.verbs[0] ?? "",
    tokens: withAdjectives(clause.rest.slice(consumed), adjectives),
    steps,
    things: new Set(catalogue.flatMap((each) => each.thing ?? [])),
    isPlural: clause.isPlural,
  });
  if (clause.count !== null && clause.count !== objects.length) {
    throw misread({ clause: clause.text }, `it asks for ${clause.count} and describes ${objects.length}`);
  }
  const taken = new Set(steps.map((step) => step.id));
  return objects.map((object) => {
    const name = objects.length > 1 ? object.name : null;
    const given = completeArguments(object, { words, steps, clause: clause.text, name });
    const id = freeId(words.tool.name, taken);
    taken.add(id);
    return { id, words, arguments: given, dependsOn: order(clause, index, given, steps), clause: index };
  });
}

/** Arguments in front of the noun are read as if they stood behind the others. */
function withAdjectives(tokens: readonly Token[], adjectives: readonly Token[]): Token[] {
  const first = adjectives[0];
  if (!first) return [...tokens];
  return [
    ...tokens,
    { kind: "mark", text: ",", lower: ",", start: first.start, end: first.start },
    ...adjectives,
  ];
}

/** "then" orders steps that no reference orders. */
function order(clause: Clause, index: number, given: JsonObject, steps: readonly PlannedStep[]): string[] {
  const isReferring = steps.some((step) => JSON.stringify(given).includes(`<<${step.id}`));
  if (!clause.isSequel || isReferring) return [];
  return steps.filter((step) => step.clause === index - 1).map((step) => step.id);
}

/** The tool's name as a step id, with a number from the second use on: createAuthor, createAuthor2. */
function freeId(toolName: string, taken: ReadonlySet<string>): string {
  const plain = toolName.slice(toolName.lastIndexOf("/") + 1).replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const base = (/^[A-Za-z]/.test(plain) ? plain : `call_${plain}`).slice(0, 56);
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}${number}`;
  return id;
}
