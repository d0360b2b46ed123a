import {
  argumentsOfStep,
  conditionsOf,
  exactAsText,
  findTool,
  hasSideEffects,
  isForEachStep,
  isJsonObject,
  type JsonValue,
  type Plan,
  type Step,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import {
  checkNoValues,
  comparisonsIn,
  cut,
  type DiagnosticCollector,
  foreignReference,
  isPlaceholder,
  isPlaceholderFor,
  type Place,
  type PlannedCall,
  placeKeys,
  type SaidHow,
  scanText,
  secretsMentioned,
  visitTexts,
} from "@planwright/plan/internal";
import { type DateValue, datesSaidIn, dateValueOf } from "../moment/date-values.ts";
import type { FoundMoments } from "../moment/find-moments.ts";
import { readingText, type SaidMoment } from "../moment/moment.ts";
import {
  addressesIn,
  createQueryWords,
  type FactValues,
  isSampleAddress,
  isSampleValue,
  type MomentValues,
  normalText,
  type QueryWords,
  type SchemaWords,
} from "./known-values.ts";

/** Maximum number of diagnostics for one step. */
const MAX_DIAGNOSTICS = 20;

/** The sources against which values are checked. */
export interface ValueSources {
  /**
   * Collects texts that are values although they look like placeholders or references: the plan stores them,
   * so that later checks accept them.
   */
  readonly literals: Set<string>;
  readonly tools: readonly ToolDescriptor[];
  readonly query: string | undefined;
  /** The part of the query that gives values without asking for anything. */
  readonly furtherSources: string | undefined;
  /** Facts that the caller sent. */
  readonly facts: FactValues;
  /** Days and moments in the words of the query. */
  readonly moments: MomentValues;
  readonly diagnostics: DiagnosticCollector;
  readonly schemaWords: SchemaWords;
}

interface Checking {
  /** The step's tool has side effects. */
  readonly hasEffects: boolean;
  readonly diagnostics: DiagnosticCollector;
  readonly words: QueryWords;
  readonly hasQuery: boolean;
  /** Steps and tools that a reference could name. */
  readonly roots: ReadonlySet<string>;
  readonly isAllowed: (text: string) => boolean;
  readonly literals: Set<string>;
  readonly step: { readonly index: number; readonly id: string };
}

/**
 * Finds values that the user did not give: placeholders, documentation samples, and field names without
 * reference brackets. A value that the query contains or the tool's schema lists is accepted.
 */
export function checkValues(
  plan: Plan,
  { tools, query, furtherSources, facts, diagnostics, schemaWords, literals }: ValueSources,
): void {
  const asked = createQueryWords(query);
  const words: QueryWords = { contains: (text) => asked.contains(text) || facts.contains(text) };
  const roots = new Set(plan.steps.flatMap((step) => [step.id, toolOfStep(step)]));
  const calls = plan.steps.map((step, index) => plannedCall(step, index, tools));
  for (const [index, step] of plan.steps.entries()) {
    const descriptor = calls[index]?.tool;
    const isAllowed = (text: string) => schemaWords.of(descriptor).has(text);
    const hasEffects = hasSideEffects(descriptor);
    const found = { index, id: step.id };
    const hasQuery = query !== undefined;
    checkStep(step, { diagnostics, words, hasQuery, hasEffects, roots, isAllowed, literals, step: found });
  }
  const isGiven = createSaidTexts(query, words, furtherSources);
  const isSaid: typeof isGiven = (text, how) => {
    const isValue = isGiven(text, how);
    if (isValue) literals.add(text);
    return isValue;
  };
  checkNoValues(calls, {
    diagnostics,
    isPlaceholder: isStandIn,
    isSaid,
    ask: ASK,
    emptyText: "error",
    checksOptional: true,
  });
  for (const [index, step] of plan.steps.entries())
    checkComparisons(step, { step: { index, id: step.id }, isSaid, diagnostics });
}

/**
 * Finds placeholders for the value that a condition compares a field with (`extracted_email`, `[email]` beside
 * `<<find.email>>`). {@link checkText} finds those that need no field.
 */
function checkComparisons(
  step: Step,
  {
    step: found,
    isSaid,
    diagnostics,
  }: Pick<Checking, "step" | "diagnostics"> & { isSaid: (text: string, how: "words") => boolean },
): void {
  for (const { operands, keys } of comparisonsIn(conditionsOf(step))) {
    const names = operands.map(fieldNamed);
    for (const [index, operand] of operands.entries()) {
      const name = names[1 - index];
      if (name === undefined) continue;
      visitTexts(operand, (text, place) => {
        if (isStandIn(text) || !isPlaceholderFor(text, name) || isSaid(text, "words")) return;
        const message = `step ${found.id}: its condition compares ${name} with ${cut(text)}, which is a placeholder; give the value, or a reference such as <<step.field>>`;
        diagnostics.add(
          "ARGUMENT_PLACEHOLDER",
          { step: found, keys: [...keys, index, ...placeKeys(place)] },
          { message },
        );
      });
    }
  }
}

/** The last name of an operand that is one reference: "email" of `<<find.email>>`; undefined for any other. */
function fieldNamed(operand: JsonValue): string | undefined {
  const [only, ...others] = typeof operand === "string" ? (scanText(operand)?.parts ?? []) : [];
  if (only?.type !== "reference" || others.length > 0) return undefined;
  const last = only.path.findLast((segment) => segment.type === "key");
  return last?.key ?? only.root;
}

const ASK = 'ask for it under "missing"';

function plannedCall(step: Step, index: number, tools: readonly ToolDescriptor[]): PlannedCall {
  const isForEach = isForEachStep(step);
  return {
    step: { index, id: step.id },
    tool: findTool(tools, toolOfStep(step)),
    arguments: argumentsOfStep(step),
    keys: isForEach ? ["forEach", "do", "arguments"] : ["arguments"],
    isForEach,
  };
}

const isStandIn = (text: string): boolean => isPlaceholder(text) || isSampleValue(text);

function checkStep(step: Step, checking: Checking): void {
  let count = 0;
  const check = (value: JsonValue, below: readonly string[]) =>
    visitTexts(value, (text, place) => {
      if (count < MAX_DIAGNOSTICS && checkText(text, below, place, checking)) count++;
    });
  if (isForEachStep(step)) check(step.forEach.items, ["forEach", "items"]);
  check(argumentsOfStep(step), isForEachStep(step) ? ["forEach", "do", "arguments"] : ["arguments"]);
  for (const { condition, keys } of conditionsOf(step)) check(condition, keys);
}

/** @returns true when a diagnostic was added */
function checkText(
  text: string,
  below: readonly string[],
  place: Place | undefined,
  checking: Checking,
): boolean {
  const { diagnostics, words, step, isAllowed, roots, literals } = checking;
  if (text.trim() === "") return false;
  const where = () => ({ step, keys: [...below, ...placeKeys(place)] });
  if (isStandIn(text)) {
    const foreign = foreignReference(text);
    // Already reported as a reference in a foreign notation.
    if (foreign && roots.has(foreign.root)) return false;
    if (words.contains(text) || isAllowed(text)) {
      if (isPlaceholder(text)) literals.add(text);
      return false;
    }
    const message = `step ${step.id}: ${cut(text)} is a placeholder; give the value, or a reference such as <<step.field>>`;
    diagnostics.add("ARGUMENT_PLACEHOLDER", where(), { message });
    return true;
  }
  if (isBareReference(text, roots) && !words.contains(text) && !isAllowed(text)) {
    const message = `step ${step.id}: ${cut(text)} is text, not a reference; write <<${text}>>`;
    diagnostics.add("REFERENCE_SPELLING", where(), { message, suggestion: `<<${text}>>` });
    return true;
  }
  return checkAddresses(text, where, checking);
}

const BARE_REFERENCE = /^([A-Za-z][\w-]{0,127})(?:\.[A-Za-z_][\w-]{0,127}|\[[0-9]{1,9}\]){1,20}$/;
const FILE_OR_HOST =
  /\.(?:pdf|txt|md|csv|tsv|json|ya?ml|xml|html?|css|png|jpe?g|gif|svg|docx?|xlsx?|pptx?|zip|gz|log|sql|[jt]sx?|py|com|org|net|io|dev)$/i;

/**
 * True for `createAuthor._id` when a step has that name: a reference without brackets. `report.pdf` is a
 * file.
 */
function isBareReference(text: string, roots: ReadonlySet<string>): boolean {
  const root = BARE_REFERENCE.exec(text)?.[1];
  return root !== undefined && roots.has(root) && !FILE_OR_HOST.test(text);
}

function checkAddresses(
  text: string,
  where: () => { step: Checking["step"]; keys: (string | number)[] },
  { diagnostics, words, hasQuery, hasEffects, isAllowed, step }: Checking,
): boolean {
  for (const address of addressesIn(text)) {
    const { local, host } = address;
    const isNamed =
      words.contains(address.text) || (local === undefined && words.contains(host.replace(/^www\./, "")));
    // "Alice and Bob at corp.com" contains both addresses.
    const isDerived = local !== undefined && words.contains(host) && words.contains(local);
    if (isNamed || isDerived || isAllowed(text)) continue;
    const shown = cut(address.text);
    if (isSampleAddress(address)) {
      const message = `step ${step.id}: ${shown} is an example address that the query does not give; use the real one, or a reference such as <<step.field>>`;
      diagnostics.add("ARGUMENT_PLACEHOLDER", where(), { message });
      return true;
    }
    if (local === undefined || !hasQuery) continue;
    const message = `step ${step.id}: the request does not give the address ${shown}; refer to an earlier step that gives it, or ask for it under "missing"`;
    diagnostics.add("ARGUMENT_UNSOURCED", where(), { message, severity: hasEffects ? "error" : "warning" });
    return true;
  }
  return false;
}

/** Words in a request that ask for an empty text. */
const EMPTY =
  /""|''|“”|‘’|«»|``|(?<!\p{L})(?:empty|blank|leere?[nrs]?|vides?|vac[ií][oa]s?|vuot[oaie])(?!\p{L})|空/iu;
/** Words before an id: "author id Alice", "with the id: 'Alice'". */
const NAMED_AS_ID = /(?<![a-z])(?:[a-z]*_)?(?:ids?|uuid|identifier)(?: is| of| are| as)?\s?[:=]?\s?["'`«]?$/;
const QUOTES: ReadonlySet<string> = new Set(['""', "''", "``", "«»", "「」", "『』"]);
const LONGEST_BEFORE = 40;

/**
 * Returns a check for texts that a request gives as values. The empty text is one when the request mentions
 * something empty.
 * @param words - words of the request and of other sources of values
 * @param furtherSources - other sources of values: each line is one value
 */
function createSaidTexts(
  query: string | undefined,
  words: QueryWords,
  furtherSources: string | undefined,
): (text: string, how: SaidHow) => boolean {
  const asked = normalText(query ?? "");
  const values = new Set(furtherSources?.split("\n").map(normalText));
  return (text, how) => {
    const wanted = normalText(text);
    if (wanted === "") return EMPTY.test(asked);
    if (values.has(wanted)) return true;
    if (how === "words") return words.contains(text);
    for (let at = asked.indexOf(wanted); at !== -1; at = asked.indexOf(wanted, at + 1)) {
      const end = at + wanted.length;
      const isSaid =
        how === "quotes"
          ? QUOTES.has(`${asked.charAt(at - 1)}${asked.charAt(end)}`)
          : NAMED_AS_ID.test(asked.slice(Math.max(0, at - LONGEST_BEFORE), at));
      if (isSaid) return true;
    }
    return false;
  };
}

/**
 * Refuses names of secrets from a model that neither the query nor the caller's facts contain literally:
 * descriptions and outputs of tools may try to make the model use a secret.
 */
export function checkSecretSources(
  plan: Plan,
  { query, facts }: { query: string | undefined; facts: Pick<FactValues, "secrets"> },
  diagnostics: DiagnosticCollector,
): void {
  let named: ReadonlySet<string> | undefined;
  const isNamed = (name: string): boolean => {
    named ??= new Set([...secretsMentioned(query ?? ""), ...facts.secrets]);
    return name !== "" && named.has(name);
  };
  for (const [index, step] of plan.steps.entries()) {
    const check = (value: JsonValue, below: readonly string[]): void =>
      visitTexts(value, (text, place) => {
        if (secretsMentioned(text).every(isNamed)) return;
        const message = `step ${step.id}: ${cut(text)} names a secret that the query does not name; leave it out`;
        const where = { step: { index, id: step.id }, keys: [...below, ...placeKeys(place)] };
        diagnostics.add("SECRET_UNSOURCED", where, { message });
      });
    if (isForEachStep(step)) check(step.forEach.items, ["forEach", "items"]);
    check(argumentsOfStep(step), isForEachStep(step) ? ["forEach", "do", "arguments"] : ["arguments"]);
    for (const { condition, keys } of conditionsOf(step)) check(condition, keys);
  }
}

/** Maximum number of values that are checked in one plan. */
const MAX_VALUES = 20_000;
/** Maximum number of diagnostics for one plan. */

/** A value of a plan, with its path. */
interface PlacedValue {
  readonly value: string | number;
  readonly step: { readonly index: number; readonly id: string };
  readonly keys: readonly (string | number)[];
  readonly of: Step;
}

/**
 * Finds dates that differ from the words of the request, such as another day than "tomorrow". A date is wrong
 * when no words mean it, no source contains it, and a day or moment that the words mean is missing in the
 * plan. When that day is in the plan, other dates may follow from it: they are assumptions. When the meaning
 * of the words is unknown, nothing is reported.
 */
export function checkMoments(plan: Plan, sources: ValueSources): void {
  const { query, moments: said, diagnostics } = sources;
  if (query === undefined || said.moments.length === 0 || said.isOpen) return;
  const values = valuesOf(plan);
  const dated = values.flatMap((placed) => {
    const date = dateValueOf(placed.value);
    return date ? [{ ...placed, date }] : [];
  });
  const unused = unusedOf(said, values, (moment) => dated.some(({ date }) => said.fits(date, moment)));
  if (unused.length === 0) return;
  const isGiven = givenIn(query, sources);
  const wrong = dated.filter(
    (placed) => placed.date.isPlain && !said.gives(placed.value) && !isGiven(placed),
  );
  for (const { step, keys, value } of wrong.slice(0, MAX_DIAGNOSTICS)) {
    diagnostics.add(
      "ARGUMENT_DATE",
      { step, keys },
      { message: contradiction(step.id, String(value), unused), suggestion: suggestionOf(unused) },
    );
  }
}

/**
 * Returns a check for dates that the request contains in full, or that the caller's facts or the tool's
 * schema contain.
 */
function givenIn(query: string, { tools, facts, schemaWords }: ValueSources) {
  const words = createQueryWords(query);
  const dates = datesSaidIn(query);
  return ({ value, of, date }: PlacedValue & { readonly date: DateValue }): boolean => {
    const listed = schemaWords.of(findTool(tools, toolOfStep(of)));
    return (
      date.dates.some((each) => dates.has(each)) ||
      facts.gives(value) ||
      listed.has(value) ||
      words.contains(String(value))
    );
  };
}

/** Moments that no value contains, neither as a date nor in the words of the request. */
function unusedOf(
  { moments }: FoundMoments,
  values: readonly PlacedValue[],
  isUsed: (moment: SaidMoment) => boolean,
): SaidMoment[] {
  const texts = values.map(({ value }) => String(value).toLowerCase());
  return moments.filter((moment) => {
    const words = moment.text.toLowerCase();
    return !isUsed(moment) && !texts.some((text) => text.includes(words));
  });
}

function contradiction(id: string, value: string, unused: readonly SaidMoment[]): string {
  const meant = unused.map(
    ({ text, readings }) => `${JSON.stringify(cut(text))} is ${readings.map(readingText).join(" or ")}`,
  );
  return `step ${id}: ${cut(value)} is not what the request says; ${meant.join(", ")}`;
}

function suggestionOf([first, ...others]: readonly SaidMoment[]): string | undefined {
  const [reading, second] = first?.readings ?? [];
  return reading && !second && others.length === 0 ? readingText(reading) : undefined;
}

function valuesOf(plan: Plan): PlacedValue[] {
  const values: PlacedValue[] = [];
  for (const [index, of] of plan.steps.entries()) {
    const step = { index, id: of.id };
    const add = (given: JsonValue, keys: (string | number)[]): void => {
      const value = exactAsText(given);
      if (values.length >= MAX_VALUES) return;
      if (typeof value === "string" || typeof value === "number") values.push({ value, step, keys, of });
      else if (Array.isArray(value)) value.forEach((each, at) => add(each, [...keys, at]));
      else if (isJsonObject(value))
        for (const [name, each] of Object.entries(value)) add(each, [...keys, name]);
    };
    if (isForEachStep(of)) add(of.forEach.items, ["forEach", "items"]);
    add(argumentsOfStep(of), isForEachStep(of) ? ["forEach", "do", "arguments"] : ["arguments"]);
  }
  return values;
}
