import { BadInputError } from "../errors/input-errors.ts";
import { isBlank, isWellFormed } from "./text.ts";

/** Longest text of an operator, in UTF-16 units. */
const MAX_TEXT_LENGTH = 1_000;

/**
 * A trimmed text for people; null when it is blank.
 * @throws {BadInputError} if it is too long or not well-formed
 */
export function parseText(argument: string, text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  if (isBlank(trimmed)) return null;
  if (trimmed.length > MAX_TEXT_LENGTH || !isWellFormed(trimmed)) {
    throw new BadInputError(
      argument,
      `The ${argument} has ${trimmed.length} characters, or is not well-formed text`,
      `Give at most ${MAX_TEXT_LENGTH} characters as UTF-8, without NUL characters.`,
    );
  }
  return trimmed;
}
