import { type Drafter, NoToolsError } from "@planwright/models";
import {
  isContent,
  isFreeText,
  isLongText,
  isTitle,
  type Parameter,
  type ToolWords,
  toolWordsOf,
} from "@planwright/models/words";
import {
  bareName,
  beginningOfText,
  escapeText,
  type JsonObject,
  type JsonValue,
  type PlanningContext,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import { findMoments, type Gap, type SaidMoment } from "@planwright/reading";
import { type DraftedCall, isSeparator, keyAt, Misread, readArguments } from "./arguments.ts";
import { impliedLink, outputsAsText, type PlannedStep, waitsFor } from "./links.ts";
import { headAt, isVerb, nearestTools, PRONOUNS, serverNamed, type ToolMatch } from "./match-tool.ts";
import {
  type MissingValue,
  ModelRequiredError,
  NotUnderstoodError,
  ValueMissingError,
} from "./offline-errors.ts";
import { type Token, tokenize } from "./tokens.ts";
import { expected } from "./values.ts";

/** Longer sentences are refused: the grammar is made for a few clauses. */
const MAX_QUERY_LENGTH = 4_000;
/** The first sign of a quotation that is not closed, or that the grammar does not know. */
const OPEN_QUOTE = /^["“«‹„‚'‘`「『]/;
/** More steps are refused. */
const MAX_STEPS = 100;

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

/** A sentence and what is known about it. */
interface Sentence {
  text: string;
  tokens: readonly Token[];
  moments: readonly SaidMoment[];
  catalogue: readonly ToolWords[];
  things: ReadonlySet<string>;
}

/** A clause in its sentence. */
interface Clause {
  text: string;
  end: number;
  /** Position among the clauses, from 0. */
  index: number;
  isSequel: boolean;
  /** How many times "then" comes before it. */
  stage: number;
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
      clause: beginningOfText(clause, 200),
      reason,
      nearestTools: nearestTools(clause, catalogue),
    });
  if (query.length > MAX_QUERY_LENGTH)
    throw refuse(query, `it is longer than ${MAX_QUERY_LENGTH} characters`);
  if (query.includes("$ref:"))
    throw refuse(query, '"$ref:" would be read as a reference, and it cannot be escaped');
  const tokens = tokenize(query);
  const open = tokens.find(({ kind, text }) => kind === "word" && OPEN_QUOTE.test(text));
  if (open)
    throw refuse(
      query.slice(open.start),
      `it is open where the quotation ends that begins with ${open.text.charAt(0)}; put a text in "..."`,
    );
  const sentence: Sentence = {
    text: query,
    tokens,
    moments: momentsIn(query, context),
    catalogue,
    things: new Set(catalogue.flatMap(({ thing }) => thing ?? [])),
  };
  const steps: PlannedStep[] = [];
  const clauses: string[] = [];
  let { start } = startOfClause(tokens, 0);
  if (start >= tokens.length) throw refuse(query.trim(), "it asks for nothing");
  for (let isSequel = false, stage = 0; start < tokens.length; ) {
    const head = headAt(tokens, start, catalogue, steps.at(-1)?.words.thing ?? null);
    const matches = head?.matches ?? [];
    const end = endOfClause(tokens, Math.max(start + 1, matches[0]?.next ?? 0), catalogue, matches);
    const text = query.slice(tokens[start]?.start, tokens[end - 1]?.end);
    if (!head) throw refuse(text, "it does not begin with a verb of the tools");
    if (matches.length === 0) throw refuse(text, "no tool fits its verb and noun");
    const clause = { text, end, index: clauses.length, isSequel, stage };
    try {
      steps.push(...planClause(sentence, clause, matches, steps));
    } catch (error) {
      if (error instanceof Misread) throw refuse(text, error.message);
      throw error;
    }
    if (steps.length > MAX_STEPS) throw refuse(text, `it asks for more than ${MAX_STEPS} calls`);
    clauses.push(text);
    const next = startOfClause(tokens, end);
    if (next.start >= tokens.length && tokens.slice(end).some(({ kind }) => kind === "word"))
      throw refuse(query.slice(tokens[end]?.start), "nothing follows it");
    ({ start, isSequel } = next);
    if (isSequel) stage += 1;
  }
  const plan = { steps: steps.map(toStep) };
  requireValues(steps, clauses, plan);
  return plan;
}

/** Words such as "tomorrow". Without a context it is known where they are, but not what they mean. */
function momentsIn(query: string, context?: Pick<PlanningContext, "now" | "timezone">): SaidMoment[] {
  const { moments } = findMoments(query, context ?? { now: new Date(0), timezone: "UTC" });
  return context ? [...moments] : moments.map((moment) => ({ ...moment, readings: [] }));
}

/**
 * Plans the steps for one clause. When several tools fit equally well, a tool whose values are all given is
 * preferred.
 * @throws {Misread}
 */
function planClause(
  sentence: Sentence,
  clause: Clause,
  matches: readonly ToolMatch[],
  steps: readonly PlannedStep[],
): PlannedStep[] {
  const attempts = matches.map((match) => attempt(sentence, clause, match, steps));
  const planned = attempts.filter((each) => Array.isArray(each));
  const [one, another] = matches;
  if (one && another && bareName(one.words.tool) === bareName(another.words.tool)) {
    const named = serverNamed(sentence.tokens, clause.end, matches);
    if (named) return planClause(sentence, { ...clause, end: named.end }, [named.match], steps);
  }
  const complete = planned.filter((each) => each.every(({ missing }) => missing.length === 0));
  const [only, second] = complete.length > 0 ? complete : planned;
  if (only && !second) return only;
  const failure = attempts.find((each) => each instanceof Misread);
  if (!second) throw failure ?? new Misread("no tool fits it");
  const names = matches.map(({ words }) => words.tool.name).slice(0, 5);
  const server = one?.words.tool.server;
  const isOne = another && bareName(another.words.tool) === (one && bareName(one.words.tool));
  throw new Misread(
    `it fits several tools: ${names.join(", ")}${isOne && server !== undefined ? `; end it with the server, as in "on ${server}"` : ""}`,
  );
}

function attempt(...given: Parameters<typeof stepsFor>): PlannedStep[] | Misread {
  try {
    return stepsFor(...given);
  } catch (error) {
    if (error instanceof Misread) return error;
    throw error;
  }
}

function stepsFor(
  { text, tokens, moments, things }: Sentence,
  { end, index, isSequel, stage }: Clause,
  match: ToolMatch,
  steps: readonly PlannedStep[],
): PlannedStep[] {
  const { words, count } = match;
  const calls = readArguments({ sentence: text, tokens, match, end, steps, moments, things });
  if (count !== null && count !== calls.length)
    throw new Misread(`it asks for ${count} and describes ${calls.length}`);
  const taken = new Set(steps.map(({ id }) => id));
  return calls.map((call) => {
    const completed = complete(call, match, steps);
    const id = freeId(words.tool.name, taken);
    taken.add(id);
    return {
      id,
      words,
      ...completed,
      dependsOn: waitsFor({ words, arguments: completed.arguments, isSequel, stage }, steps),
      clause: index,
      stage,
      name: call.name,
    };
  });
}

/**
 * The arguments in the order of the schema, with the values that the sentence implies: the thing made before,
 * the topic as title, defaults of the schema. No value is invented: a required value without a source is
 * listed as missing.
 * @throws {Misread} when a link could mean several things
 */
function complete(
  call: DraftedCall,
  match: ToolMatch,
  steps: readonly PlannedStep[],
): { arguments: JsonObject; missing: MissingValue[] } {
  const given: JsonObject = {};
  const missing: MissingValue[] = [];
  for (const parameter of match.words.parameters) {
    const { name, description, required } = parameter;
    const said = call.unusable.get(name) ?? null;
    const value =
      call.values.get(name) ??
      (said === null && required ? implied(parameter, call, match, steps) : undefined);
    if (value !== undefined) given[name] = value;
    else if (required || said !== null)
      missing.push({
        tool: match.words.tool.name,
        parameter: name,
        description,
        said,
        form: expected(parameter),
      });
  }
  return { arguments: given, missing };
}

function implied(
  parameter: Parameter,
  call: DraftedCall,
  { words, isPointing, isOther }: ToolMatch,
  steps: readonly PlannedStep[],
): JsonValue | undefined {
  if (parameter.choices?.length === 1) return parameter.choices[0];
  if (parameter.default !== undefined) return parameter.default;
  if (isTitle(parameter) && call.topic !== null) return escapeText(call.topic);
  const isThing = parameter.link !== null && parameter.link.thing === words.thing;
  if (parameter.link && !(isOther && isThing)) {
    const link = impliedLink(parameter, steps, isPointing);
    if (link === "several")
      throw new Misread(
        `it is open which ${parameter.link.thing} is meant for "${parameter.name}"; say its name`,
      );
    if (link !== null) return link.value;
  }
  const source = steps.findLast(
    (step) =>
      words.dependsOn.get(step.words.tool.name)?.includes(parameter.name) &&
      step.words.outputs.has(parameter.name),
  );
  if (source) return `<<${source.id}.${parameter.name}>>`;
  return samePlace(parameter, call, steps) ?? wholeOutputs(parameter, call, words, steps);
}

/** A pull request that was made in `repo` "web" is merged in the same repo. */
function samePlace(
  parameter: Parameter,
  call: DraftedCall,
  steps: readonly PlannedStep[],
): JsonValue | undefined {
  if (!isFreeText(parameter) || isLongText(parameter)) return undefined;
  const given = JSON.stringify([...call.values.values()]);
  const source = steps.findLast(({ id }) => [".", "[", ">"].some((mark) => given.includes(`<<${id}${mark}`)));
  const isAlike = source?.words.parameters.some((each) => each.name === parameter.name && isFreeText(each));
  return source && isAlike === true ? source.arguments[parameter.name] : undefined;
}

/** "..., then summarize": a tool that needs only a text gets the outputs since the last "then". */
function wholeOutputs(
  parameter: Parameter,
  call: DraftedCall,
  { parameters, thing }: ToolWords,
  steps: readonly PlannedStep[],
): string | undefined {
  const isOnly = parameters.filter((each) => each.required).length === 1;
  const isText = thing === null || parameter.words.includes(thing);
  if (!isText || call.values.size > 0 || !isOnly || !isContent(parameter)) return undefined;
  const made = steps.filter(({ stage }) => stage === steps.at(-1)?.stage);
  return made.length > 0 ? outputsAsText(made) : undefined;
}

/** Every word was understood: asks for all missing values at once. @throws {ValueMissingError} */
function requireValues(steps: readonly PlannedStep[], clauses: readonly string[], draft: OfflinePlan): void {
  const lacking = steps.filter((step) => step.missing.length > 0);
  const [first] = lacking;
  if (!first) return;
  const isOneOfMany = steps.filter((step) => step.clause === first.clause).length > 1;
  throw new ValueMissingError({
    clause: clauses[first.clause] ?? "",
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

/** The tool's name as a step id, with a number from the second use on: createAuthor, createAuthor2. */
function freeId(toolName: string, taken: ReadonlySet<string>): string {
  const plain = toolName.slice(toolName.lastIndexOf("/") + 1).replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const base = (/^[A-Za-z]/.test(plain) ? plain : `call_${plain}`).slice(0, 56);
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}${number}`;
  return id;
}

/** Words before a verb that change nothing. */
const OPENERS = new Set(["please", "also", "first", "now", "and", "next", "finally"]);
const STOPS = new Set([".", ";", "!", "?"]);

const isStop = (token: Token | undefined) => token?.kind === "mark" && STOPS.has(token.text);
const isWord = (token: Token | undefined, word: string) => token?.kind === "word" && token.lower === word;

/**
 * The position behind a clause. "then", ";" and full stops always divide. A comma or "and" divides when a verb
 * follows.
 * @param matches - the tools that the verb and the noun of this clause fit
 */
function endOfClause(
  tokens: readonly Token[],
  from: number,
  catalogue: readonly ToolWords[],
  matches: readonly ToolMatch[],
): number {
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at];
    if (isStop(token) || isWord(token, "then")) return at;
    if (!isSeparator(token)) continue;
    let behind = at;
    while (isSeparator(tokens[behind])) behind += 1;
    if (isStop(tokens[behind]) || isWord(tokens[behind], "then")) return at;
    if (beginsClause(tokens, behind, catalogue, matches)) return at;
    at = behind - 1;
  }
  return tokens.length;
}

function beginsClause(
  tokens: readonly Token[],
  from: number,
  catalogue: readonly ToolWords[],
  matches: readonly ToolMatch[],
): boolean {
  let at = from;
  while (tokens[at]?.kind === "word" && OPENERS.has(tokens[at]?.lower ?? "")) at += 1;
  const token = tokens[at];
  if (token?.kind !== "word" || !isVerb(token.lower, catalogue)) return false;
  if ((headAt(tokens, at, catalogue, null)?.matches.length ?? 0) > 0) return true;
  if (matches.some(({ words }) => keyAt(tokens, at, words.parameters) !== null)) return false;
  return /^\p{Ll}/u.test(token.text) || PRONOUNS.has(tokens[at + 1]?.lower ?? "");
}

/** Skips marks, "then" and words before a verb; says whether the next clause comes after the previous one. */
function startOfClause(tokens: readonly Token[], from: number): { start: number; isSequel: boolean } {
  let start = from;
  let isSequel = false;
  for (; start < tokens.length; start++) {
    const token = tokens[start];
    const isOrder = isStop(token) || isWord(token, "then");
    if (!isOrder && !isSeparator(token) && !(token?.kind === "word" && OPENERS.has(token.lower))) break;
    isSequel ||= isOrder || isWord(token, "next") || isWord(token, "finally");
  }
  return { start, isSequel };
}
