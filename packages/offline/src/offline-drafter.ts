import { DraftError, type Drafter, NoToolsError } from "@planwright/models";
import { stem, type ToolWords, toolWordsOf, wordsOf } from "@planwright/models/words";
import {
  type JsonObject,
  type PlanningContext,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import { findMoments, type Gap, type SaidMoment } from "@planwright/reading";
import { bindArguments } from "./arguments/bind-arguments.ts";
import { completeArguments } from "./arguments/complete.ts";
import { type Clause, splitClauses } from "./clauses/clauses.ts";
import { bestMatches, matchTools, type ToolMatch } from "./clauses/match-tool.ts";
import { isOneOnServers, onServer } from "./clauses/server-named.ts";
import { antecedentAt } from "./links/antecedents.ts";
import type { PlannedStep } from "./links/links.ts";
import { waitsFor } from "./links/ordering.ts";
import { mistypedVerb } from "./refusal/mistyped-verb.ts";
import { nearestTools } from "./refusal/nearest-tools.ts";
import { ModelRequiredError, NotUnderstoodError, ValueMissingError } from "./refusal/offline-errors.ts";
import { ownParameter } from "./text/noun-phrase.ts";
import { type Token, tokenize } from "./text/tokens.ts";
import { isTyped } from "./text/value-for.ts";
import { type BoundObject, hasParameter } from "./values/bound-object.ts";
import { misread } from "./values/reading.ts";

/** Longer sentences are refused: the rules are made for a few clauses. */
const MAX_QUERY_LENGTH = 4_000;

/** A plan as the offline drafter writes it. */
export interface OfflinePlan {
  steps: { id: string; tool: string; arguments: JsonObject; dependsOn?: string[] }[];
}

/** Plans simple imperative sentences by rules, without a model. The same input gives the same plan. */
export function createOfflineDrafter(): Drafter {
  return {
    name: "offline",
    kind: "offline",
    draft: async ({ query, context, tools, replan, signal }) => {
      signal.throwIfAborted();
      if (replan) throw new ModelRequiredError("replan");
      const text = stringifyExactJson(planByRules(query, tools, context));
      const usage = { inputTokens: null, outputTokens: null };
      return { text, usage, finishReason: "stop", latencyMs: 0, messages: [] };
    },
    answer: async () => {
      throw new ModelRequiredError("answer");
    },
  };
}

/**
 * The plan that a sentence asks for. Every clause becomes at least one step and every word is used, or the
 * sentence is refused.
 * @param context - the current time and the time zone; without it words such as "tomorrow" mean no day
 * @throws {NotUnderstoodError} naming the clause and the nearest tools
 * @throws {ValueMissingError} naming the values that tools require and the sentence does not give
 * @throws {NoToolsError}
 */
export function planByRules(
  query: string,
  tools: readonly ToolDescriptor[],
  context?: Pick<PlanningContext, "now" | "timezone">,
): OfflinePlan {
  if (tools.length === 0) throw new NoToolsError();
  const catalogue = tools.map(toolWordsOf);
  const refuse = (clause: string, reason: string) =>
    new NotUnderstoodError({
      clause: clause.slice(0, 200),
      reason,
      nearestTools: nearestTools(clause, catalogue),
    });
  if (query.length > MAX_QUERY_LENGTH)
    throw refuse(query, `it is longer than ${MAX_QUERY_LENGTH} characters`);
  if (query.includes("$ref:"))
    throw refuse(query, '"$ref:" would be read as a reference, and it cannot be escaped');
  const clauses = splitClauses(tokenize(query), query, catalogue);
  if (clauses.length === 0) throw refuse(query.trim(), "it asks for nothing");
  const moments = context ? findMoments(query, context).moments : [];
  const steps: PlannedStep[] = [];
  let stage = 0;
  for (const [index, clause] of clauses.entries()) {
    if (clause.verb === null) throw refuse(clause.text, noVerb(mistypedVerb(clause.text, catalogue)));
    if (clause.isSequel && index > 0) stage += 1;
    const input = { clause, index, stage, sentence: query, moments, steps, catalogue };
    const matches = toolsFor(input);
    if (matches.length === 0) throw refuse(clause.text, "no tool fits its verb and noun");
    steps.push(...planOrRefuse(input, matches, (reason) => refuse(clause.text, reason)));
  }
  const plan = { steps: steps.map(toStep) };
  requireValues(steps, clauses, plan);
  return plan;
}

const noVerb = (meant: string | null) =>
  `it does not begin with a verb that the rules know${meant === null ? "" : `; did you mean "${meant}"?`}`;

/**
 * When several tools fit by the verb alone, a failure says only that no tool fits, and names the nearest
 * tools.
 */
function planOrRefuse(
  input: ClauseInput,
  matches: readonly ToolMatch[],
  refusal: (reason: string) => NotUnderstoodError,
): PlannedStep[] {
  try {
    return planClause(input, matches);
  } catch (error) {
    const isByVerb = matches.every((match) => match.isByVerb);
    if (!(error instanceof NotUnderstoodError) || !isByVerb) throw error;
    throw refusal(matches.length === 1 ? error.facts.reason : "no tool fits its verb and noun");
  }
}

/** Every word was understood: asks for all missing values at once. @throws {ValueMissingError} */
function requireValues(steps: readonly PlannedStep[], clauses: readonly Clause[], draft: OfflinePlan): void {
  const lacking = steps.filter((step) => step.missing.length > 0);
  const [first] = lacking;
  if (!first) return;
  const isOneOfMany = steps.filter((step) => step.clause === first.clause).length > 1;
  throw new ValueMissingError({
    clause: clauses[first.clause]?.text ?? "",
    object: isOneOfMany ? first.name : null,
    missing: lacking.flatMap((step) => step.missing),
    open: { draft: { ...draft }, gaps: lacking.flatMap((step) => gapsOf(step, steps)) },
  });
}

/** When several steps use one tool, a question names the thing that it is about. */
function gapsOf({ id, words, name, missing }: PlannedStep, steps: readonly PlannedStep[]): Gap[] {
  const isOneOfMany = steps.filter((step) => step.words === words).length > 1;
  return missing.map(({ tool, parameter, said, form }) => ({
    stepId: id,
    tool,
    keys: [parameter],
    said,
    form,
    object: isOneOfMany ? name : null,
  }));
}

const toStep = ({ id, words, arguments: given, dependsOn }: PlannedStep) => ({
  id,
  tool: words.tool.name,
  arguments: given,
  ...(dependsOn.length > 0 ? { dependsOn } : {}),
});

/** A clause in its sentence. */
interface ClauseInput {
  clause: Clause;
  /** Position of the clause, from 0. */
  index: number;
  /** How many times "then" comes before it. */
  stage: number;
  sentence: string;
  /** What words such as "tomorrow" mean at the current time and in the time zone. */
  moments: readonly SaidMoment[];
  steps: readonly PlannedStep[];
  catalogue: readonly ToolWords[];
}

/**
 * Tools that fit the clause. When its object is "it" or "the first one": tools for the thing that is meant.
 */
function toolsFor({ clause, steps, catalogue }: ClauseInput): ToolMatch[] {
  const isNamed = clause.matches.some((match) => !match.isByVerb);
  if (isNamed || clause.verb === null) return clause.matches;
  const at = clause.rest[0]?.lower === "to" ? 1 : 0;
  const thing = antecedentAt({ tokens: clause.rest, steps }, at)?.thing ?? null;
  if (thing === null) return clause.matches;
  const found = matchTools(catalogue, clause.verb, tokenize(thing));
  return found.length > 0 ? found.map((match) => ({ ...match, consumed: 0 })) : clause.matches;
}

/** A tool with a smaller fit is not tried when a better one fails. */
const LEAST_FIT = 0.4;

/**
 * Plans the steps for one clause. When several tools fit equally well, their arguments decide: a tool whose
 * values are all given is preferred to a tool that lacks some. A tool that fits less well is tried when no
 * better tool can take every word. Steps with missing values are returned too, so that the values can be
 * asked for.
 * @throws {NotUnderstoodError} with the reason of the best tool
 */
function planClause(input: ClauseInput, matches: readonly ToolMatch[]): PlannedStep[] {
  let failure: DraftError | null = null;
  let left = matches;
  while (left.length > 0 && (failure === null || (left[0]?.fit ?? 0) >= LEAST_FIT)) {
    const best = bestMatches(left);
    const planned = planBest(input, best, failure !== null);
    if (Array.isArray(planned)) return planned;
    failure ??= planned;
    left = left.slice(best.length);
  }
  throw failure ?? misread({ clause: input.clause.text }, "no tool fits it");
}

/**
 * The same for tools that fit equally well.
 * @param isSecond - true when better tools failed: then the values must show that one of these is meant
 */
function planBest(
  input: ClauseInput,
  best: readonly ToolMatch[],
  isSecond: boolean,
): PlannedStep[] | DraftError {
  const attempts = best.map((match) => attempt(input, isSecond ? { ...match, isByVerb: true } : match));
  const planned = attempts.filter((each) => Array.isArray(each));
  const named = planned.length === 1 ? null : onServer(input.clause, best);
  if (named) return planBest({ ...input, clause: named.clause }, named.matches, isSecond);
  const complete = planned.filter((steps) => steps.every(({ missing }) => missing.length === 0));
  const [only, second] = complete.length > 0 ? complete : planned;
  if (only && second) {
    const names = best.map((match) => match.words.tool.name);
    const server = best[0]?.words.tool.server;
    const hint = isOneOnServers(best) ? `; end it with the server, as in "on ${server}"` : "";
    const reason = `it fits several tools: ${names.slice(0, 5).join(", ")}${hint}`;
    return misread({ clause: input.clause.text }, reason);
  }
  const failure = attempts.find((each) => each instanceof DraftError);
  return only ?? failure ?? misread({ clause: input.clause.text }, "no tool fits it");
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
  const { clause, index, stage, sentence, moments, steps, catalogue } = input;
  const { words } = match;
  const objects = bindArguments({
    sentence,
    moments,
    clause: clause.text,
    words,
    tokens: withAdjectives(clause.rest.slice(argumentsFrom(clause, match)), match.adjectives),
    steps,
    things: new Set(catalogue.flatMap((each) => each.thing ?? [])),
    isPlural: clause.isPlural,
  });
  const counted = withCount(clause, words, withModifier(match, clause, objects));
  const taken = new Set(steps.map((step) => step.id));
  return counted.map((object) => {
    const completed = completeArguments({ object, words, steps, clause: clause.text });
    const isShown = object.isTyped || completed.isLinked;
    if (match.isByVerb && (!isShown || saysMore(object, words, catalogue)))
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

/**
 * True when a text without quotes mentions things of the catalogue: "add labels ui to WEB-5" is no comment.
 */
function saysMore(object: BoundObject, words: ToolWords, catalogue: readonly ToolWords[]): boolean {
  if (object.bareText === null) return false;
  const said = wordsOf(object.bareText, 50).map(stem);
  const known = catalogue.flatMap(({ thing, parameters }) => [
    thing,
    ...parameters.flatMap((each) => each.words.map(stem)),
  ]);
  const isShared = catalogue.some((each) => each !== words && each.verbs[0] === words.verbs[0]);
  return isShared || said.some((word) => word.length > 2 && known.includes(word));
}

/**
 * The position where the arguments begin. In "add product 7" for an order, the noun names an argument and not
 * the thing of the tool.
 */
function argumentsFrom({ rest }: Clause, { words, consumed }: ToolMatch): number {
  const noun = stem(rest[consumed - 1]?.lower ?? "");
  const isArgument =
    noun !== words.thing &&
    words.parameters.some((each) => each.words.map(stem).includes(noun) && each.required);
  return isArgument && isTyped(rest[consumed]) ? consumed - 1 : consumed;
}

/**
 * "lock the front door" says which door, but not by a value that the tool takes: the value becomes a
 * question.
 * @throws {NotUnderstoodError} when the parameter has a value already
 */
function withModifier({ words, modifier }: ToolMatch, clause: Clause, objects: BoundObject[]): BoundObject[] {
  const parameter = modifier && ownParameter(words);
  if (!modifier || !parameter) return objects;
  if (objects.some((object) => hasParameter(object, parameter)))
    throw misread({ clause: clause.text }, `it is open what "${modifier.text}" means there`);
  return objects.map((object) => ({
    ...object,
    unusable: new Map(object.unusable).set(parameter.name, modifier.text),
  }));
}

const LIMITS = new Set("limit max maximum count top size results".split(" "));

/**
 * "list 5 posts" limits a list; "two authors" says how many objects the clause describes.
 * @throws {NotUnderstoodError}
 */
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

/** Arguments before the noun are read before the others. */
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
