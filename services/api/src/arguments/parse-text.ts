import { BadInputError } from "../errors/api-errors.ts";
import { isBlank, isWellFormed } from "./text.ts";

/** Longest text of an operator, in UTF-16 units. */
const MAX_TEXT_LENGTH = 1_000;

/** A text for people without the blanks around it; null when there is none. @throws {BadInputError} if too long or not text */
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
