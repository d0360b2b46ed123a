import {
  argumentsOfStep,
  exactAsText,
  findTool,
  isForEachStep,
  isJsonObject,
  type JsonValue,
  type Plan,
  type Step,
  toolOfStep,
} from "@planwright/plan";
import { cut } from "@planwright/plan/internal";
import { type DateValue, datesSaidIn, dateValueOf } from "../moment/date-values.ts";
import type { FoundMoments } from "../moment/find-moments.ts";
import { readingText, type SaidMoment } from "../moment/moment.ts";
import type { ValueSources } from "./check-values.ts";
import { createQueryWords } from "./known-values.ts";

/** Maximum number of values that are checked in one plan. */
const MAX_VALUES = 20_000;
/** Maximum number of diagnostics for one plan. */
const MAX_DIAGNOSTICS = 20;

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
