const MAX_QUERY = 20_000;
const MAX_PARTS = 24;
/** Separates two requested actions. A point inside a number or an address does not. */
const SEPARATOR = /[;,\n:?!]|\.(?=\s|$)|\b(?:then|and|after that|afterwards|before|finally|next|plus)\b/iu;
const QUOTED =
  /"[^"]{0,2000}"|“[^”]{0,2000}”|«[^»]{0,2000}»|(?<![\p{L}\p{N}])['‘][^'’\n]{0,2000}['’](?![\p{L}\p{N}])|`[^`]{0,2000}`/gu;

/**
 * The parts of a query, one for each requested action, as far as punctuation and conjunctions show them.
 * Values in quotes are left out, because they request nothing, unless the query has nothing else. At most 24
 * parts.
 */
export function queryParts(query: string): string[] {
  const text = query.slice(0, MAX_QUERY);
  const unquoted = text.replace(QUOTED, " ");
  const parts = (/\p{L}/u.test(unquoted) ? unquoted : text)
    .split(SEPARATOR)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return [...new Set(parts)].slice(0, MAX_PARTS);
}
