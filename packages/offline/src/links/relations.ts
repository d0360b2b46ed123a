import { type Parameter, PREPOSITIONS } from "@planwright/models/words";
import type { Token } from "../text/tokens.ts";

/**
 * "WEB-3 to WEB-4", "celsius to kelvin": from two parameters, the one that the preposition after the value
 * does not name; null when the preposition names both or neither.
 */
export function otherThan(parameters: readonly Parameter[], behind: Token | undefined): Parameter | null {
  const names = behind?.kind === "word" ? (PREPOSITIONS.get(behind.lower) ?? []) : [];
  const others = parameters.filter((each) => !each.words.some((word) => names.includes(word)));
  return parameters.length === 2 && others.length === 1 ? (others[0] ?? null) : null;
}
