import type { Parameter } from "@planwright/models/words";
import type { JsonValue } from "@planwright/plan";
import type { Token } from "../text/tokens.ts";
import type { Reading } from "./reading.ts";

/** A value for a parameter. */
export interface Given {
  parameter: Parameter;
  value: JsonValue;
}

/** What some words of a clause give. */
export interface Argument {
  /** The first position after them. */
  next: number;
  gives?: readonly Given[];
  /** Values that ask for a call each: "for Tokyo, London and Paris". */
  spread?: { parameter: Parameter; values: readonly JsonValue[] };
  /** The text that "about" brought: it also serves as title where one is required and none is given. */
  topic?: string;
  /** What the object is called. It begins the next object when the current one has a name. */
  named?: { parameter: Parameter; text: string };
  /** A text without quotes, and without a word that brings it in. */
  bareText?: string;
  /** A value that cannot stand for what is wanted, such as a name where an address is: to be asked for. */
  unusable?: { parameter: Parameter; said: string };
  /** Values for the one required parameter that is left when everything else is read. */
  pending?: readonly { text: string; kind: Token["kind"] }[];
  /** True when what follows is meant for all objects so far: "both", "all". */
  isForAll?: boolean;
  /** True when the look of the value, or a link, shows that it is meant for this tool. */
  isTyped?: boolean;
}

/**
 * One way to read the words at a position; null when it does not apply there.
 * @param isSeparated - true at the beginning and after a comma or "and" @throws {NotUnderstoodError} when it
 * applies, and the words cannot be right
 */
export type Rule = (reading: Reading, at: number, isSeparated: boolean) => Argument | null;
