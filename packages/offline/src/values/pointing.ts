import { isContent, isFreeText, type Parameter, PREPOSITIONS } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { type Antecedent, antecedentAt } from "../links/antecedents.ts";
import { isPath } from "../text/value-for.ts";
import type { Argument } from "./argument.ts";
import { openParameters, type Reading } from "./reading.ts";

/** "it", "them", "the results", "that blog": gives ids of the things of earlier steps, or whole outputs. */
export function pointing(reading: Reading, at: number): Argument | null {
  const meant = antecedentAt(reading, at);
  if (!meant) return null;
  const open = openParameters(reading);
  // "write it to b.txt": a destination follows, so "it" means the content.
  const isMoved =
    PREPOSITIONS.has(reading.tokens[meant.next]?.lower ?? "") &&
    isPath(reading.tokens[meant.next + 1]?.text ?? "");
  if (isMoved && open.some((each) => each.required && isContent(each)))
    return byOutputs(meant, open.find((each) => each.required && isContent(each)) ?? null);
  return byIds(meant, open) ?? byOutputs(meant, outputTaker(open));
}

/** The same for a parameter whose name comes before the words. */
export function pointingTo(reading: Reading, parameter: Parameter, at: number): Argument | null {
  const meant = antecedentAt(reading, at);
  return meant && (byIds(meant, [parameter]) ?? byOutputs(meant, isFreeText(parameter) ? parameter : null));
}

/** References to the things, for the first parameter that takes them: as a list, or one call for each. */
export function byIds(meant: Antecedent, parameters: readonly Parameter[]): Argument | null {
  for (const parameter of parameters) {
    const ids = meant.idsFor(parameter);
    const [only, second] = ids;
    if (only === undefined) continue;
    const { next } = meant;
    if (parameter.type === "array")
      return { next, gives: [{ parameter, value: asItems(ids) }], isTyped: true };
    if (second !== undefined) return { next, spread: { parameter, values: ids }, isTyped: true };
    return { next, gives: [{ parameter, value: only }], isTyped: true };
  }
  return null;
}

/** A reference to all items of a list is already a list. */
const asItems = (ids: readonly JsonValue[]): JsonValue =>
  ids.length === 1 && typeof ids[0] === "string" && ids[0].includes("[*]") ? ids[0] : [...ids];

function byOutputs(meant: Antecedent, parameter: Parameter | null): Argument | null {
  const value = parameter && meant.outputsFor(parameter);
  return parameter && value !== null
    ? { next: meant.next, gives: [{ parameter, value }], isTyped: true }
    : null;
}

/** The parameter for whole outputs of earlier steps: a list, or the only required text. */
export function outputTaker(open: readonly Parameter[]): Parameter | null {
  const takers = open.filter(
    (each) => each.required && (isFreeText(each) || (each.type === "array" && !each.link)),
  );
  const fits = takers.length === 1 ? takers : takers.filter(isContent);
  return fits.length === 1 ? (fits[0] ?? null) : null;
}
