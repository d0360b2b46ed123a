import {
  type Diagnostic,
  type DiagnosticCode,
  findLeftOut,
  findTool,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type LeftOutTool,
  type Limits,
  LimitsSchema,
  nearestName,
  type Plan,
  type PlanningContext,
  type Policy,
  planGraph,
  printPlan,
  resolvePolicy,
  type Step,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { cut, DiagnosticCollector, readPlan, wordsOf } from "@planwright/plan/internal";
import { distance } from "fastest-levenshtein";
import { type DraftWithGaps, type Gap, gapsOfPlan } from "../questions/to-questions.ts";
import { checkSources } from "./check-sources.ts";
import { checkMoments, checkSecretSources, checkValues } from "./check-values.ts";
import { choosePlan, type PlanCandidate } from "./choose-plan.ts";
import { findJson } from "./find-json.ts";
import { createFactValues, createMomentValues, createSchemaWords } from "./known-values.ts";
import { type ModelQuestion, meaningOfFinish, questionsBeside, withoutThinking } from "./prose.ts";
import { tidyPlan, withGiven, withoutGiven } from "./tidy-plan.ts";

/** Options of {@link readModelAnswer}. */
export interface ReadModelAnswerOptions {
  /** The tools that the model was offered; the plan is validated against them. */
  readonly tools: readonly ToolDescriptor[];
  /** Tools that servers list and that no plan can use: an answer that calls one is told why. Default: none. */
  readonly leftOut?: readonly LeftOutTool[] | undefined;
  /**
   * The request in the user's words: a value in it is not invented. Without it, all sample values are
   * refused.
   */
  readonly query?: string | undefined;
  /**
   * Other texts with values, one on each line, such as answers of users or outputs of completed steps. Words
   * such as "tomorrow" in them do not mean a day. Default: none.
   */
  readonly sources?: string | undefined;
  /**
   * Time, place and facts of the caller. Values of the facts are not invented, and dates must match words
   * such as "tomorrow". Without a context the current day is unknown, and such dates are assumptions.
   */
  readonly context?: PlanningContext | undefined;
  /**
   * The finish reason that the provider reports: `length`, `max_tokens`, `content_filter`, `refusal`, ... in
   * any provider's spelling.
   */
  readonly finishReason?: string | null | undefined;
  /** Policy of the plan; a model cannot change it. Default: the default policy. */
  readonly policy?: Policy | undefined;
  /** Limits of the plan; a model cannot change them. Default: the default limits. */
  readonly limits?: Limits | undefined;
  /**
   * Existing steps on which the answer builds: its steps may refer to them, and the plan begins with them. A
   * step that the answer repeats exactly counts once. Default: none.
   */
  readonly given?: readonly Step[] | undefined;
}

/** A plan with its warnings, or all errors of the answer. */
export type ModelAnswer =
  /**
   * `repaired`: its JSON was invalid (quotes, commas, comments) and was repaired without changing its
   * content.
   */
  | { ok: true; plan: Plan; diagnostics: Diagnostic[]; repaired: boolean }
  /**
   * `open`: the plan lacks only values that the user must give. `elided`: the answer was not cut off, but an
   * ellipsis in it replaces calls or values; a model that is asked again can write them.
   */
  | { ok: false; diagnostics: Diagnostic[]; open?: OpenDraft | undefined; elided?: true };

/** Maximum size of an answer, in bytes of UTF-8. */
const MAX_BYTES = 1_048_576;

/**
 * Reads a model's answer as a plan: valid JSON or JSON with unambiguous defects, in fences, in prose, after
 * thinking, inside texts, in wrappers, in any dialect. Never guesses: refuses an answer that was cut off, one
 * with several plans, values that the user did not give, and names of unknown tools. The plan is validated
 * against the tools. Takes linear time and never throws.
 */
export function readModelAnswer(text: string, options: ReadModelAnswerOptions): ModelAnswer {
  if (typeof text !== "string") return refuse("PLAN_NOT_JSON", "The answer is not text");
  if (isTooLarge(text))
    return refuse("LIMIT_BYTES", `The answer is larger than ${MAX_BYTES} bytes; split the plan`);
  const finish = meaningOfFinish(options.finishReason);
  if (finish === "cut") return refuse("ANSWER_TRUNCATED", `${CUT} (${cut(String(options.finishReason))})`);
  if (finish === "refused")
    return refuse(
      "ANSWER_REFUSED",
      `The provider held the answer back (${cut(String(options.finishReason))})`,
    );
  const spoken = withoutThinking(text);
  if (!spoken.isComplete) return refuse("ANSWER_TRUNCATED", `${CUT}: nothing follows its thinking`);
  const found = findJson(spoken.text);
  if (found.isTooDeep) return refuse("LIMIT_DEPTH", "The JSON in the answer is nested too deep");
  if (found.isCut) return refuse("ANSWER_TRUNCATED", `${CUT}: its brackets are still open at its end`);
  const host = {
    policy: options.policy ?? resolvePolicy(),
    limits: options.limits ?? LimitsSchema.parse({}),
  };
  const { leftOut = [] } = options;
  const choice = choosePlan(spoken.text, found, (plan) =>
    formOf(plan, { ...host, tools: options.tools, leftOut }),
  );
  if (choice.type === "none") {
    const refused: ModelAnswer = { ok: false, diagnostics: [refusal(choice.code, choice.message)] };
    return choice.isElided ? { ...refused, elided: true } : refused;
  }
  if (choice.type === "asks") return { ok: false, diagnostics: choice.questions.map(asks) };
  const { tools, query, sources, context, given = [] } = options;
  const questions = questionsBeside(choice.plan.document);
  const { plan, diagnostics, repaired } = readChosen(choice.plan, choice.others, {
    ...host,
    tools,
    leftOut,
    query,
    sources,
    context,
    given,
  });
  if (plan && questions.length === 0 && !diagnostics.some(isError))
    return { ok: true, plan, diagnostics, repaired };
  const open = plan && openDraft(plan, diagnostics, { asked: questions, tools });
  const answerDiagnostics =
    questions.length > 0 ? questions.map(({ question }) => asks(question)) : diagnostics;
  return { ok: false, diagnostics: answerDiagnostics, ...(open && { open }) };
}

/** Maximum number and length of the literals in a plan. */
const MAX_LITERALS = 1_000;
const MAX_LITERAL = 300;

const CUT = "The answer was cut off";

function refuse(code: DiagnosticCode, message: string): ModelAnswer {
  return { ok: false, diagnostics: [refusal(code, message)] };
}

const refusal = (code: DiagnosticCode, message: string): Diagnostic => ({ code, severity: "error", message });

function asks(message: string): Diagnostic {
  return { code: "ANSWER_ASKS", severity: "error", message };
}

function isTooLarge(text: string): boolean {
  return text.length > MAX_BYTES || new TextEncoder().encode(text).byteLength > MAX_BYTES;
}

interface Asked {
  readonly query: string | undefined;
  readonly sources: string | undefined;
  readonly context: PlanningContext | undefined;
  readonly given: readonly Step[];
}

interface Reading {
  readonly tools: readonly ToolDescriptor[];
  readonly leftOut: readonly LeftOutTool[];
  readonly policy: Policy;
  readonly limits: Limits;
}

/**
 * The canonical text of a candidate that is meant as a plan for the tools, even with errors; undefined for
 * templates and similar JSON.
 */
function formOf(candidate: PlanCandidate, { tools, leftOut, policy, limits }: Reading): string | undefined {
  const { document } = tidyPlan(candidate, { tools, policy, limits, diagnostics: new DiagnosticCollector() });
  const { plan } = readPlan(document, { policy, limits });
  const names = tools.map(({ name }) => name);
  const isNear = (tool: string) =>
    (findTool(tools, tool) ?? nearestName(tool, names) ?? findLeftOut(leftOut, tool)) !== undefined;
  return plan?.steps.some((step) => isNear(toolOfStep(step))) ? printPlan(plan) : undefined;
}

function readChosen(
  candidate: PlanCandidate,
  others: number,
  { query: requestText, sources: furtherSources, context, given, ...reading }: Reading & Asked,
): { plan: Plan | undefined; diagnostics: Diagnostic[]; repaired: boolean } {
  const { tools, leftOut, policy, limits } = reading;
  const before = new DiagnosticCollector();
  if (others > 0) {
    const message = `The answer holds ${others} more lists of calls that are no plans for these tools; left out`;
    before.add("ANSWER_AMBIGUOUS", {}, { message, severity: "warning" });
  }
  const { document: own, isRepaired } = tidyPlan(candidate, { ...reading, diagnostics: before });
  const all = withGiven(own, given);
  const { document } = all;
  const query = furtherSources === undefined ? requestText : `${requestText ?? ""}\n${furtherSources}`;
  const { plan, diagnostics } = readPlan(document, {
    // Models list an order also where calls may run at once.
    keepsOrder: false,
    tools,
    leftOut,
    policy,
    limits,
    request: query,
    given: given.length,
  });
  const after = new DiagnosticCollector();
  const literals = new Set(plan?.literals);
  if (plan) {
    checkOrder(plan, executionOrderOf(document), after);
    const facts = createFactValues(context?.facts);
    const moments = createMomentValues(requestText, context);
    const schemaWords = createSchemaWords();
    const sources = {
      tools,
      query,
      furtherSources,
      facts,
      moments,
      diagnostics: after,
      schemaWords,
      literals,
    };
    checkValues(plan, sources);
    checkSources(plan, sources);
    checkMoments(plan, sources);
    checkSecretSources(plan, { query, facts }, after);
  }
  // Placeholders are checked again below, with the query.
  const read = diagnostics.filter(({ code }) => !plan || code !== "ARGUMENT_PLACEHOLDER");
  const named = plan ? withNearestTools(read, plan, tools, leftOut) : read;
  const about = withoutEchoes([...strictDiagnostics(named, policy), ...after.toDiagnostics()]);
  const found = withoutGiven(about, given, all);
  const completePlan = plan && withLiterals(plan, literals);
  return { plan: completePlan, diagnostics: [...before.toDiagnostics(), ...found], repaired: isRepaired };
}

/** The plan with these texts in `literals`. */
function withLiterals(plan: Plan, literals: ReadonlySet<string>): Plan {
  const kept = [...literals]
    .filter((text) => text.length <= MAX_LITERAL)
    .slice(0, MAX_LITERALS)
    .toSorted();
  return kept.length === 0 ? plan : { ...plan, literals: kept };
}

/**
 * Removes "value without a source" diagnostics for values that have another error, and what a schema says
 * about a text that is no value: the text has to go, so its length and form do not matter.
 */
function withoutEchoes(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const placeOf = ({ stepId, path }: Diagnostic): string => JSON.stringify([stepId, path]);
  const placesOf = (isAt: (each: Diagnostic) => boolean) => new Set(diagnostics.filter(isAt).map(placeOf));
  const judged = placesOf(({ code }) => code !== "ARGUMENT_UNSOURCED");
  const empty = placesOf((each) => each.code === "ARGUMENT_PLACEHOLDER" && isError(each));
  const isEcho = (each: Diagnostic): boolean =>
    (each.code === "ARGUMENT_UNSOURCED" && judged.has(placeOf(each))) ||
    (each.code === "ARGUMENT_VALUE" && empty.has(placeOf(each)));
  return diagnostics.filter((each) => !isEcho(each));
}

function isError({ severity }: Diagnostic): boolean {
  return severity === "error";
}

function executionOrderOf(document: JsonValue): JsonValue | undefined {
  return isJsonObject(document) ? document["executionOrder"] : undefined;
}

/**
 * Diagnostics that are errors in a model's plan and warnings in the plan of any other author. A model knows
 * only what the schemas of a tool declare, so it has invented any other argument or output field, and one
 * repair is cheaper than a plan that fails half-way. The same applies to a complete object or list for a text
 * argument, when only a part of it, or a loop, fits.
 */
const INVENTED: ReadonlySet<DiagnosticCode> = new Set(["ARGUMENT_UNDECLARED", "REFERENCE_FIELD_UNKNOWN"]);
/**
 * Codes for a value of which only a part fits. The suggestion is that part: a reference, or the text inside
 * `{"value": "T-100"}`.
 */
const PARTLY_FITTING: ReadonlySet<DiagnosticCode> = new Set(["REFERENCE_TYPE", "ARGUMENT_TYPE"]);

/**
 * The diagnostics with their severity for a plan of a model. A policy that accepts missing fields accepts
 * undeclared fields too. A field that earlier outputs did not have stays a warning, because it may exist the
 * next time.
 */
function strictDiagnostics(diagnostics: readonly Diagnostic[], policy: Policy): Diagnostic[] {
  return diagnostics.map((each) => {
    const isBorne =
      each.observedIn !== undefined ||
      (each.code === "REFERENCE_FIELD_UNKNOWN" && policy.onMissingField !== "error");
    const isBetterKnown = PARTLY_FITTING.has(each.code) && each.suggestion !== undefined;
    return (isBetterKnown || INVENTED.has(each.code)) && !isBorne ? { ...each, severity: "error" } : each;
  });
}

const MAX_DIAGNOSTICS = 20;

/**
 * Warns when an explicit `executionOrder` puts a step before one of its dependencies, or into the same group.
 * The dependencies win: a step cannot use an output that does not exist yet.
 */
function checkOrder(plan: Plan, order: JsonValue | undefined, diagnostics: DiagnosticCollector): void {
  const ranks = ranksOf(order);
  if (ranks.size === 0) return;
  const toolOf = new Map(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const rankOf = (id: string) => ranks.get(id) ?? ranks.get(toolOf.get(id) ?? "");
  const { dependencies } = planGraph(plan);
  let count = 0;
  for (const [index, { id }] of plan.steps.entries()) {
    const own = rankOf(id);
    for (const source of own ? (dependencies.get(id) ?? []) : []) {
      const before = rankOf(source);
      if (!own || !before || before.first < own.last || count >= MAX_DIAGNOSTICS) continue;
      count++;
      const place = before.first === own.last ? "beside" : "before";
      const message = `executionOrder puts ${id} ${place} ${source}, and ${id} depends on ${source}; the dependency holds`;
      const step = { index, id };
      diagnostics.add("ORDER_INVALID", { step }, { message, severity: "warning" });
    }
  }
}

interface Rank {
  first: number;
  last: number;
}

/** Position of each name in the order; names of one group have the same position. */
function ranksOf(order: JsonValue | undefined): Map<string, Rank> {
  const ranks = new Map<string, Rank>();
  if (!Array.isArray(order)) return ranks;
  for (const [rank, entry] of order.entries()) {
    for (const name of Array.isArray(entry) ? entry : [entry]) {
      if (typeof name !== "string") continue;
      ranks.set(name, { first: ranks.get(name)?.first ?? rank, last: rank });
    }
  }
  return ranks;
}

const MAX_NAMES = 50;
const MAX_TOOLS = 2_000;
const MAX_LENGTH = 128;
const SHOWN = 5;
/** Minimum similarity of a suggested name. */
const MIN_SIMILARITY = 0.5;
/** Maximum difference in similarity between a suggested name and the nearest one. */
const MAX_DIFFERENCE = 0.3;

/**
 * The diagnostics, with up to 5 most similar names added for each unknown tool, so that a repair can choose.
 * The diagnostic of a left-out tool stays: it says why no plan can use the tool.
 */
function withNearestTools(
  diagnostics: readonly Diagnostic[],
  plan: Plan,
  tools: readonly ToolDescriptor[],
  leftOut: readonly LeftOutTool[] = [],
): Diagnostic[] {
  const names = [...new Set(tools.slice(0, MAX_TOOLS).map(({ name }) => name))];
  const toolOf = new Map(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const known = new Map<string, string[]>();
  return diagnostics.map((diagnostic) => {
    const wanted = toolOf.get(diagnostic.stepId ?? "");
    if (diagnostic.code !== "TOOL_UNKNOWN" || wanted === undefined) return diagnostic;
    if (findLeftOut(leftOut, wanted)) return diagnostic;
    if (!known.has(wanted) && known.size < MAX_NAMES) known.set(wanted, nearestTools(wanted, names));
    const near = withFirst(diagnostic.suggestion, known.get(wanted) ?? []);
    const [first] = near;
    if (first === undefined) return diagnostic;
    const others =
      near.length > 1 ? `; the nearest tools are ${near.join(", ")}` : `; did you mean ${first}?`;
    const message = `step ${diagnostic.stepId} calls ${cut(wanted)}: no such tool${others}`;
    return { ...diagnostic, message, suggestion: first };
  });
}

function withFirst(first: string | undefined, names: readonly string[]): string[] {
  const all = first === undefined ? names : [first, ...names.filter((name) => name !== first)];
  return all.slice(0, SHOWN);
}

function nearestTools(wanted: string, names: readonly string[]): string[] {
  if (wanted.length > MAX_LENGTH) return [];
  const all = names.map((name) => ({ name, value: similarity(wanted, name) }));
  const least = Math.max(MIN_SIMILARITY, ...all.map(({ value }) => value - MAX_DIFFERENCE));
  return all
    .filter(({ value }) => value >= least)
    .toSorted((one, other) => other.value - one.value)
    .slice(0, SHOWN)
    .map(({ name }) => name);
}

/**
 * Similarity from 0 to 1: by letters, or by words in any order (`author_create`, `functions.createAuthor`).
 */
function similarity(one: string, other: string): number {
  if (other.length > MAX_LENGTH) return 0;
  const letters =
    1 - distance(one.toLowerCase(), other.toLowerCase()) / Math.max(one.length, other.length, 1);
  const [left, right] = [new Set(wordsOf(one)), new Set(wordsOf(other))];
  const shared = [...left].filter((word) => right.has(word)).length;
  return Math.max(letters, (2 * shared) / Math.max(left.size + right.size, 1));
}

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
function openDraft(
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
