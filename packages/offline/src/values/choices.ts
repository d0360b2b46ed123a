import { type Parameter, stem } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import { otherThan } from "../links/relations.ts";
import { valueFor } from "../text/value-for.ts";
import type { Argument } from "./argument.ts";
import { openParameters, type Reading } from "./reading.ts";

/** A value from the only list of choices that contains it. */
export interface Choice {
  parameter: Parameter;
  value: JsonValue;
  next: number;
  /** True when a word of the parameter's name follows: "high priority". */
  isNamed: boolean;
}

/**
 * The choice that the words at a position name, up to three words ("in progress"); null when no list or
 * several lists contain it.
 */
export function choiceAt(reading: Reading, at: number): Choice | null {
  const first = reading.tokens[at];
  if (!first || first.kind === "mark") return null;
  for (const length of first.kind === "quoted" ? [1] : [3, 2, 1]) {
    const tokens = reading.tokens.slice(at, at + length);
    if (tokens.length < length || tokens.slice(1).some((token) => token.kind !== "word")) continue;
    const text = tokens.map((token) => token.text).join(" ");
    const fits = openParameters(reading).flatMap((parameter) => {
      const value = parameter.choices ? valueFor(parameter, text) : undefined;
      return value === undefined ? [] : [{ parameter, value }];
    });
    const other = otherThan(
      fits.map(({ parameter }) => parameter),
      reading.tokens[at + length],
    );
    const fit = fits.length === 1 ? fits[0] : fits.find(({ parameter }) => parameter === other);
    if (fit) return { ...fit, ...ending(reading, fit.parameter, at + length) };
  }
  return null;
}

/** "high priority", "imperial units": the parameter's own name after the choice. */
function ending(reading: Reading, parameter: Parameter, next: number): { next: number; isNamed: boolean } {
  const token = reading.tokens[next];
  const isNamed = token?.kind === "word" && parameter.words.map(stem).includes(stem(token.lower));
  return { next: isNamed ? next + 1 : next, isNamed };
}

/** "high priority", "express shipping". */
export function choice(reading: Reading, at: number): Argument | null {
  const found = choiceAt(reading, at);
  return found && { next: found.next, gives: [{ parameter: found.parameter, value: found.value }] };
}
