import type { Parameter, ToolWords } from "@planwright/models/words";
import type { SaidMoment } from "@planwright/reading";
import type { PlannedStep } from "../links/links.ts";
import { NotUnderstoodError } from "../refusal/offline-errors.ts";
import type { Token } from "../text/tokens.ts";

/** The state while the arguments of one clause are read for one tool. */
export interface Reading {
  sentence: string;
  /** The clause exactly as in the sentence, for messages. */
  clause: string;
  words: ToolWords;
  /** Tokens of the clause after its head. */
  tokens: readonly Token[];
  /** Kinds of things that the catalogue has tools for. */
  things: ReadonlySet<string>;
  /**
   * What words such as "tomorrow" mean at the current time and in the time zone; empty when these are not
   * known.
   */
  moments: readonly SaidMoment[];
  /** Steps of the earlier clauses. */
  steps: readonly PlannedStep[];
  /** True when the clause mentions several objects: "authors Alice and Bob". */
  isPlural: boolean;
  /** True for a parameter that has a value already, in the current object. */
  isSet: (parameter: Parameter) => boolean;
  /** The parameter that holds the name of the current object, once it has a value. */
  naming: () => Parameter | null;
}

/**
 * Where a value ends. `name`: a short value that ends at any sign of another argument. `key`: a text after
 * its parameter's name that ends where another parameter is named. `title`: after "titled" or "called"; ends
 * at an argument that a preposition or "with" introduces by its name. `text`: after "about" or "saying"; ends
 * only where another argument clearly begins.
 */
export type Mode = "name" | "key" | "title" | "text";

/** Parameters without a value in the current object. */
export const openParameters = (reading: Reading) =>
  reading.words.parameters.filter((parameter) => !reading.isSet(parameter));

/** The error for a part of the clause that no rule covers. */
export const misread = (reading: Pick<Reading, "clause">, reason: string) =>
  new NotUnderstoodError({ clause: reading.clause, reason, nearestTools: [] });
