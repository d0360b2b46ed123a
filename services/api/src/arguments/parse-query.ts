import { BadInputError } from "../errors/input-errors.ts";
import { isBlank, isWellFormed } from "./text.ts";

/** Longest sentence accepted, in UTF-16 units. */
export const MAX_QUERY_LENGTH = 10_000;

/** The trimmed sentence. @throws {BadInputError} if it is empty, too long or not well-formed */
export function parseQuery(text: string): string {
  const query = text.trim();
  if (isBlank(query)) throw refused("The query is empty", "Describe in a sentence what to do.");
  if (text.length > MAX_QUERY_LENGTH) {
    throw refused(
      `The query has ${text.length} characters; ${MAX_QUERY_LENGTH} are accepted`,
      "Shorten it, or submit a plan with submitPlan.",
    );
  }
  if (!isWellFormed(query)) {
    throw refused("The query is not well-formed text", "Send it as UTF-8 without NUL characters.");
  }
  return query;
}

function refused(message: string, remedy: string): BadInputError {
  return new BadInputError("query", message, remedy);
}
