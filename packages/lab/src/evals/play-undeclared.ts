import { createDrafter } from "@planwright/models";
import {
  isForEachStep,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  observeOutput,
  type PathSegment,
  type Plan,
  printReference,
  type Reference,
  type Step,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";
import { answer, type ModelRequest, type ScriptedAnswer, startModelServer } from "@planwright/testing";
import { alignColumns } from "../command/developer-command.ts";
import { fractionOf } from "../random/random.ts";
import { effectsOf } from "./cases/eval-case.ts";
import type { BaselineEntry } from "./figures.ts";
import { compareEffects } from "./grade.ts";
import { type Played, runCase } from "./play-cases.ts";
import { afterRuns, type Learner, type UndeclaredCase } from "./undeclared-cases.ts";

/** How often each tool has run before the requests are planned. */
export const RUNS = [0, 1, 3, 10] as const;

/** The outcome of one request. */
interface UndeclaredOutcome {
  id: string;
  /** True when the plan had the wanted effects in every world. */
  isRight: boolean;
  /** True when a step failed because a reference found no value. */
  hasFailedReference: boolean;
  played: Played;
}

/**
 * Plans every request after each number of runs of its tools, and executes the plans.
 * @param learn - default: the function that executors use
 * @param eachRuns - default: {@link RUNS}
 */
export async function playUndeclared(
  cases: readonly UndeclaredCase[],
  learn: Learner = observeOutput,
  eachRuns: readonly number[] = RUNS,
): Promise<Map<number, UndeclaredOutcome[]>> {
  const server = await startModelServer();
  try {
    const drafter = createDrafter({
      MODEL: "openai:guessing",
      OPENAI_BASE_URL: server.openAiUrl,
      MODEL_MAX_RETRIES: 0,
    });
    const outcomes = new Map<number, UndeclaredOutcome[]>();
    for (const runs of eachRuns) {
      const ofRuns: UndeclaredOutcome[] = [];
      // One at a time, so that every call belongs to the current case.
      for (const each of cases) {
        server.script(guessingModel(each.id, each.wanted));
        const tools = afterRuns(each.tools, runs, learn);
        const asShown = { ...each, tools };
        ofRuns.push(await outcomeOf(asShown, await runCase(asShown, drafter)));
      }
      outcomes.set(runs, ofRuns);
    }
    return outcomes;
  } finally {
    await server.close();
  }
}

async function outcomeOf(
  { id, tools, wanted, worlds }: UndeclaredCase,
  played: Played,
): Promise<UndeclaredOutcome> {
  if (played.ending.type !== "plan") return { id, isRight: false, hasFailedReference: false, played };
  const { plan } = played.ending;
  const judged = await Promise.all(
    worlds.map(async (answers) => {
      const found = await effectsOf(plan, tools, answers);
      const { isExact } = compareEffects(await effectsOf(wanted, tools, answers), found);
      return { isExact, hasFailedReference: found.errors.includes("REFERENCE_MISSING") };
    }),
  );
  return {
    id,
    isRight: judged.every(({ isExact }) => isExact),
    hasFailedReference: judged.some((one) => one.hasFailedReference),
    played,
  };
}

/** Share of the references to shown fields that are wrong in the first answer. */
const SLIPS = 1 / 6;

/**
 * A model that knows the plan of a request, but only those fields of outputs that its prompt shows. It
 * guesses all other fields by common names, and sometimes writes a shown field wrong. In a repair it corrects
 * the references that diagnostics name. It reads the real prompt.
 */
function guessingModel(
  caseId: string,
  { steps, outputs }: Pick<Plan, "steps" | "outputs">,
): (request: Pick<ModelRequest, "body">) => ScriptedAnswer {
  const byId = new Map<string, Step>(steps.map((step) => [step.id, step]));
  const meant = namesIn([...steps.map(toAnswer), outputs ?? null]);
  return ({ body }) => {
    if (body["tools"] !== undefined && body["tool_choice"] === undefined)
      return { type: "answer", text: "PLAN" };
    const texts = textsOf(body);
    const repaired = repairedPlan(texts, meant);
    if (repaired) return answer(repaired);
    const shapes = shapesIn(texts);
    const written = (reference: Reference, step?: Step) =>
      writtenPath(reference, { caseId, byId, shapes, step });
    return answer({
      steps: steps.map((step) => withPaths(toAnswer(step), (reference) => written(reference, step))),
      ...(outputs && { outputs: withPaths(outputs, (reference) => written(reference)) }),
    });
  };
}

/** The parts of a step that a model writes. */
function toAnswer(step: Step): JsonObject {
  const { id, dependsOn, when } = step;
  const call: JsonObject = isForEachStep(step)
    ? { forEach: { items: step.forEach.items, as: step.forEach.as, do: { ...step.forEach.do } } }
    : { tool: step.tool, arguments: step.arguments };
  return { id, ...call, ...(dependsOn.length > 0 && { dependsOn }), ...(when && { when: toJson(when) }) };
}

/** Converts a condition, whose type allows undefined fields, to JSON. */
const toJson = (value: object): JsonValue => JSON.parse(JSON.stringify(value));

interface Writing {
  caseId: string;
  byId: ReadonlyMap<string, Step>;
  /** The outputs of tools as the prompt shows them. */
  shapes: ReadonlyMap<string, JsonValue>;
  /** The step that contains the reference; undefined for outputs of the plan. */
  step: Step | undefined;
}

/** The path that the model writes after the root of a reference. */
function writtenPath(reference: Reference, { caseId, byId, shapes, step }: Writing): PathSegment[] {
  const { root, path } = reference;
  const items = step && isForEachStep(step) && root === step.forEach.as ? itemsOf(step) : undefined;
  const source = byId.get(items?.root ?? root);
  if (!source) return [...path];
  const all: PathSegment[] = items ? [...items.path, { type: "all" }, ...path] : [...path];
  // The prompt's rules describe the output of a list of calls; only the content of `data` comes from the
  // tool.
  const toolPathStart = isForEachStep(source)
    ? all.findIndex((each) => each.type === "key" && each.key === "data") + 1
    : 0;
  if (isForEachStep(source) && toolPathStart === 0) return [...path];
  const guessing = { caseId, tool: toolOfStep(source) };
  const meant = all.slice(toolPathStart);
  const guessed = guessedPath(meant, shapes.get(guessing.tool), guessing);
  const isSlip = fractionOf("slip", caseId, guessing.tool) < SLIPS && isSamePath(guessed, meant);
  const written = [...all.slice(0, toolPathStart), ...(isSlip ? slippedPath(guessed, guessing) : guessed)];
  if (!items) return written;
  // The item replaces the list and its `[*]`. A mistake that leaves a name out leaves it out of the path
  // after the item.
  const length = Math.max(0, path.length - Math.max(0, all.length - written.length));
  return length === 0 ? [] : written.slice(-length);
}

const isSamePath = (one: readonly PathSegment[], other: readonly PathSegment[]) =>
  printReference("x", one) === printReference("x", other);

function itemsOf(step: Step): Reference | undefined {
  return isForEachStep(step) && typeof step.forEach.items === "string"
    ? scanReferences(step.forEach.items)[0]
    : undefined;
}

/** A value in which each reference has the path that `pathOf` gives. */
function withPaths(value: JsonValue, pathOf: (reference: Reference) => PathSegment[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withPaths(item, pathOf));
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withPaths(inner, pathOf)]));
  }
  if (typeof value !== "string") return value;
  let written = "";
  let end = 0;
  for (const reference of scanReferences(value)) {
    written += value.slice(end, reference.start) + printReference(reference.root, pathOf(reference));
    end = reference.end;
  }
  return written + value.slice(end);
}

/** Names of the fields in references. */
function namesIn(value: JsonValue): Set<string> {
  const segments = scanReferences(value).flatMap(({ path }) => path);
  return new Set(segments.flatMap((segment) => (segment.type === "key" ? [segment.key] : [])));
}

/** The texts of a conversation, oldest first. */
function textsOf(body: JsonObject): string[] {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return messages.map((each) => {
    const content = isJsonObject(each) ? each["content"] : "";
    return typeof content === "string" ? content : "";
  });
}

/** The outputs in the prompt's list of tools, declared or observed. */
function shapesIn(texts: readonly string[]): Map<string, JsonValue> {
  const listed = texts.flatMap((text) => /<tools>\n([\s\S]*?)\n<\/tools>/.exec(text)?.[1]?.split("\n") ?? []);
  const lines = listed.map((line): JsonValue => JSON.parse(line)).filter(isJsonObject);
  return new Map(
    lines.flatMap(({ name, output, seen = output }): [string, JsonValue][] =>
      typeof name === "string" && seen !== undefined ? [[name, seen]] : [],
    ),
  );
}

const REFERENCE = /(<<.+?>>)/;
const NEVER_SEEN = /: (\S+) was never seen in [^(]*\(([^)]*)\)/;

/**
 * Repairs the last plan of a conversation as the diagnostics after it say; null without diagnostics. A
 * reference is replaced by the suggestion of the diagnostic, otherwise by the listed field that the request
 * is about. Nothing else changes.
 * @param texts - the messages of the conversation
 * @param meant - names of the fields that the request is about
 */
function repairedPlan(texts: readonly string[], meant: ReadonlySet<string>): JsonObject | null {
  const [previous = "", diagnostics = ""] = texts.slice(-2);
  if (!diagnostics.includes("Findings:")) return null;
  const plan: JsonValue = JSON.parse(previous);
  if (!isJsonObject(plan)) return null;
  return diagnostics
    .split("\n")
    .flatMap(diagnosticIn)
    .reduce((changed, diagnostic) => repair(changed, diagnostic, meant), plan);
}

function diagnosticIn(line: string): JsonObject[] {
  if (!line.startsWith("{")) return [];
  const diagnostic: JsonValue = JSON.parse(line);
  return isJsonObject(diagnostic) ? [diagnostic] : [];
}

function repair(
  plan: JsonObject,
  { stepId, message, suggestion }: JsonObject,
  meant: ReadonlySet<string>,
): JsonObject {
  const text = typeof message === "string" ? message : "";
  const reference = REFERENCE.exec(text)?.[1];
  const [, unknown, listed = ""] = NEVER_SEEN.exec(text) ?? [];
  const better = suggestion ?? listed.split(", ").find((name) => meant.has(name));
  if (reference === undefined || typeof better !== "string") return plan;
  const written = better.startsWith("<<") ? better : renamed(reference, unknown, better);
  const isAffected = (part: JsonValue) =>
    stepId === undefined || (isJsonObject(part) && part["id"] === stepId);
  const { steps, outputs } = plan;
  return {
    ...plan,
    ...(Array.isArray(steps) && {
      steps: steps.map((step) => (isAffected(step) ? replaced(step, reference, written) : step)),
    }),
    ...(outputs !== undefined && {
      outputs: stepId === undefined ? replaced(outputs, reference, written) : outputs,
    }),
  };
}

function replaced(value: JsonValue, reference: string, written: string): JsonValue {
  return JSON.parse(JSON.stringify(value).replaceAll(inJson(reference), inJson(written)));
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** The reference with one name replaced. */
function renamed(reference: string, unknown: string | undefined, name: string): string {
  const at = unknown === undefined ? -1 : reference.lastIndexOf(`.${unknown}`);
  if (at < 0 || unknown === undefined) return reference;
  return `${reference.slice(0, at)}.${name}${reference.slice(at + 1 + unknown.length)}`;
}

/** The subject of a guess: the case, and the tool whose fields the prompt does not show. */
interface Guessing {
  caseId: string;
  tool: string;
}

/**
 * How a model guesses names that the prompt does not show. Each tool in a case has one habit. One in six is
 * right.
 */
const HABITS = ["right", "other name", "other case", "wrapped", "other list", "whole output"] as const;

/**
 * The path that a model writes when it means `path`. Shown names are kept. The first name that is not shown
 * and those after it are written by the model's habit.
 * @param shape - the tool's output in the short form of prompts; undefined: the prompt does not show it
 */
function guessedPath(
  path: readonly PathSegment[],
  shape: JsonValue | undefined,
  guessing: Guessing,
): PathSegment[] {
  const shown = shownLength(path, shape);
  if (shown === path.length) return [...path];
  const guessed = path.slice(shown);
  const habit = HABITS[Math.floor(fractionOf(guessing.caseId, guessing.tool) * HABITS.length)] ?? "right";
  if (habit === "whole output" && shown === 0) return [];
  const isList = guessed.some(({ type }) => type !== "key");
  const wrapper = key(fractionOf(guessing.tool) < 0.5 ? "data" : "result");
  const before = habit === "wrapped" && shown === 0 ? [wrapper] : [];
  const names = guessed.map((segment, at) => {
    if (segment.type !== "key" || habit === "right") return segment;
    const isListName = guessed[at + 1] !== undefined && guessed[at + 1]?.type !== "key";
    if (habit === "other list" && isList) return isListName ? key("items") : segment;
    if (habit === "other case") return key(inOtherCase(segment.key, guessing.tool));
    return habit === "wrapped" && shown === 0 ? segment : key(otherName(segment.key, guessing.tool));
  });
  return [...path.slice(0, shown), ...before, ...names];
}

/** A mistake of a model that was shown the names: the last name is changed or left out. */
function slippedPath(path: readonly PathSegment[], { caseId, tool }: Guessing): PathSegment[] {
  const last = path.at(-1);
  if (last?.type !== "key") return [...path];
  const slip = Math.floor(fractionOf("which slip", caseId, tool) * 3);
  if (slip === 0) return path.slice(0, -1);
  const slipped = slip === 1 ? otherName : inOtherCase;
  return [...path.slice(0, -1), key(slipped(last.key, tool))];
}

/** Number of segments at the start of the path that are shown. */
function shownLength(path: readonly PathSegment[], shape: JsonValue | undefined): number {
  let at = shape;
  for (const [index, segment] of path.entries()) {
    if (segment.type === "key")
      at = isJsonObject(at) ? (at[segment.key] ?? at[`${segment.key}?`]) : undefined;
    else at = Array.isArray(at) ? at[0] : undefined;
    if (at === undefined) return index;
  }
  return path.length;
}

const key = (name: string): PathSegment => ({ type: "key", key: name });

/** The name that a model writes instead: `id` for `ticket_id` or `_id`, `ticket_title` for `title`. */
function otherName(name: string, tool: string): string {
  if (/.(_id|Id)$/.test(name) || name === "_id") return "id";
  const noun = nounOf(tool);
  return /[a-z][A-Z]/.test(tool)
    ? `${noun}${name.charAt(0).toUpperCase()}${name.slice(1)}`
    : `${noun}_${name}`;
}

/** `ticketId` for `ticket_id`, and the reverse. A single word becomes {@link otherName}. */
function inOtherCase(name: string, tool: string): string {
  const camel = name.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (camel !== name) return camel;
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return snake === name ? otherName(name, tool) : snake;
}

/** The noun in a tool's name: `ticket` of find_tickets. */
function nounOf(tool: string): string {
  const words = tool.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split(/[^a-z0-9]+/);
  return (words.at(-1) ?? tool).replace(/s$/, "");
}

/** The figures of all requests after this number of recorded runs of each tool, in points of 100. */
export interface UndeclaredSummary {
  runs: number;
  cases: number;
  figures: {
    /** Plans with the wanted effects. */
    rightEnds: number;
    /** Plans in which no step failed because a reference found no value. */
    foundReferences: number;
    /**
     * Of the plans with other effects, or failures: those that were stored with a warning about the
     * reference.
     */
    warnedOf: number;
  };
  repairs: number;
  inputTokens: number;
}

/** One summary for each number of runs, in their order. */
export function summariseUndeclared(
  outcomes: ReadonlyMap<number, readonly UndeclaredOutcome[]>,
): UndeclaredSummary[] {
  return [...outcomes].map(([runs, all]) => {
    const wrong = all.filter(({ isRight }) => !isRight);
    const sum = (of: "repairs" | "inputTokens") => all.reduce((total, { played }) => total + played[of], 0);
    return {
      runs,
      cases: all.length,
      figures: {
        rightEnds: share(all, ({ isRight }) => isRight),
        foundReferences: share(all, ({ hasFailedReference }) => !hasFailedReference),
        warnedOf: share(wrong, ({ played }) => played.doubts > 0),
      },
      repairs: sum("repairs"),
      inputTokens: sum("inputTokens"),
    };
  });
}

const runsLabel = (runs: number) => `after ${runs} ${runs === 1 ? "run" : "runs"}`;

const share = (all: readonly UndeclaredOutcome[], isCounted: (each: UndeclaredOutcome) => boolean) =>
  all.length === 0 ? 100 : Math.round((all.filter(isCounted).length / all.length) * 10_000) / 100;

/**
 * The part of the summaries in the baseline, without `warnedOf`, which says little when few plans are wrong.
 */
export function undeclaredBaseline(summaries: readonly UndeclaredSummary[]): Record<string, BaselineEntry> {
  return Object.fromEntries(
    summaries.map(({ runs, cases, figures: { rightEnds, foundReferences } }) => [
      `undeclared outputs ${runsLabel(runs)}`,
      { cases, figures: { rightEnds, foundReferences } },
    ]),
  );
}

/** The summaries as lines of one table. */
export function undeclaredTable(summaries: readonly UndeclaredSummary[]): string[] {
  return alignColumns([
    [
      "undeclared outputs",
      "cases",
      "right end",
      "references found",
      "wrong, but with warning",
      "repairs",
      "tokens in",
    ],
    ...summaries.map(({ runs, cases, figures, repairs, inputTokens }) => [
      runsLabel(runs),
      String(cases),
      figures.rightEnds.toFixed(1),
      figures.foundReferences.toFixed(1),
      figures.warnedOf.toFixed(1),
      String(repairs),
      String(inputTokens),
    ]),
  ]);
}
