const MAX_QUERY = 20_000;
const MAX_PARTS = 24;
/** What stands between two things that are asked for. A point inside a number or an address is no end. */
const SEPARATOR = /[;,\n:?!]|\.(?=\s|$)|\b(?:then|and|after that|afterwards|before|finally|next|plus)\b/iu;
const QUOTED =
  /"[^"]{0,2000}"|“[^”]{0,2000}”|«[^»]{0,2000}»|(?<![\p{L}\p{N}])['‘][^'’\n]{0,2000}['’](?![\p{L}\p{N}])|`[^`]{0,2000}`/gu;

/**
 * What a query asks for, one text a thing: clauses as far as punctuation and conjunctions show them. Values
 * in quotes are left out, because they ask for nothing, unless nothing else is there. At most 24.
 */
export function queryParts(query: string): string[] {
  const text = query.slice(0, MAX_QUERY);
  const bare = text.replace(QUOTED, " ");
  const parts = (/\p{L}/u.test(bare) ? bare : text)
    .split(SEPARATOR)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return [...new Set(parts)].slice(0, MAX_PARTS);
}
