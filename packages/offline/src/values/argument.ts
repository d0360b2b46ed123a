import type { Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import type { Token } from "../text/tokens.ts";
import type { Reading } from "./reading.ts";

/** A value for a parameter. */
export interface Given {
  parameter: Parameter;
  value: JsonValue;
}

/** The result of reading some words of a clause. */
export interface Argument {
  /** The first position after them. */
  next: number;
  gives?: readonly Given[];
  /** Values that need one call each: "for Tokyo, London and Paris". */
  spread?: { parameter: Parameter; values: readonly JsonValue[] };
  /** The text after "about": it is also the title when a title is required and none is given. */
  topic?: string;
  /** The name of the object. It begins the next object when the current one has a name. */
  named?: { parameter: Parameter; text: string };
  /** A text without quotes, and without a word that introduces it. */
  bareText?: string;
  /**
   * A value that the parameter cannot take, such as a name instead of an address. The value becomes a
   * question.
   */
  unusable?: { parameter: Parameter; said: string };
  /** Values for the one required parameter that has no value after all rules. */
  pending?: readonly { text: string; kind: Token["kind"] }[];
  /** True when the words that follow are for all objects so far: "both", "all". */
  isForAll?: boolean;
  /** True when the form of the value, or a link, shows that it is meant for this tool. */
  isTyped?: boolean;
}

/**
 * One way to read the words at a position; null when the rule does not apply there.
 * @param isSeparated - true at the beginning and after a comma or "and"
 * @throws {NotUnderstoodError} when the rule applies and the words cannot be right
 */
export type Rule = (reading: Reading, at: number, isSeparated: boolean) => Argument | null;
