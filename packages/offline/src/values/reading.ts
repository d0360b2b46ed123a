import type { Parameter, ToolWords } from "@planwright/models/words";
import type { SaidMoment } from "@planwright/plan";
import type { PlannedStep } from "../links/links.ts";
import { NotUnderstoodError } from "../refusal/offline-errors.ts";
import type { Token } from "../text/tokens.ts";

/** The arguments of one clause while they are read for one tool. */
export interface Reading {
  sentence: string;
  /** The clause as it stands in the sentence, for messages. */
  clause: string;
  words: ToolWords;
  /** Tokens of the clause after its head. */
  tokens: readonly Token[];
  /** Kinds of things that the catalogue has tools for. */
  things: ReadonlySet<string>;
  /** What words of the sentence mean now and here; empty where that is not known. */
  moments: readonly SaidMoment[];
  /** Steps of the clauses before. */
  steps: readonly PlannedStep[];
  /** True when the clause mentions several objects: "authors Alice and Bob". */
  isPlural: boolean;
  /** True for a parameter that has a value already, in the object under way. */
  isSet: (parameter: Parameter) => boolean;
  /** The parameter that holds what the object under way is called, once it has a value. */
  naming: () => Parameter | null;
}

/**
 * How far a value reaches. `name`: a short value, ends at any sign of another argument. `key`: text after
 * its parameter's name, ends where another is named. `title`: after "titled" or "called", ends at an
 * argument that a preposition or "with" brings in by its name. `text`: text after "about" or "saying", ends
 * only where another argument plainly begins.
 */
export type Mode = "name" | "key" | "title" | "text";

/** Parameters without a value in the object under way. */
export const openParameters = (reading: Reading) =>
  reading.words.parameters.filter((parameter) => !reading.isSet(parameter));

/** The error for a part of the clause that no rule covers. */
export const misread = (reading: Pick<Reading, "clause">, reason: string) =>
  new NotUnderstoodError({ clause: reading.clause, reason, nearestTools: [] });
