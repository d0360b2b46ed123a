import type { SaidHow } from "../validation/check-no-values.ts";
import { normalText, type QueryWords } from "./query-words.ts";

/** Words in a request that ask for an empty text. */
const EMPTY =
  /""|''|“”|‘’|«»|``|(?<!\p{L})(?:empty|blank|leere?[nrs]?|vides?|vac[ií][oa]s?|vuot[oaie])(?!\p{L})|空/iu;
/** Words before an id: "author id Alice", "with the id: 'Alice'". */
const NAMED_AS_ID = /(?<![a-z])(?:[a-z]*_)?(?:ids?|uuid|identifier)(?: is| of| are| as)?\s?[:=]?\s?["'`«]?$/;
const QUOTES: ReadonlySet<string> = new Set(['""', "''", "``", "«»", "「」", "『』"]);
const LONGEST_BEFORE = 40;

/**
 * Returns a check for texts that a request gives as values. The empty text is one when the request mentions
 * something empty.
 * @param words - words of the request and of other sources of values
 * @param furtherSources - other sources of values: each line is one value
 */
export function createSaidTexts(
  query: string | undefined,
  words: QueryWords,
  furtherSources: string | undefined,
): (text: string, how: SaidHow) => boolean {
  const asked = normalText(query ?? "");
  const values = new Set(furtherSources?.split("\n").map(normalText));
  return (text, how) => {
    const wanted = normalText(text);
    if (wanted === "") return EMPTY.test(asked);
    if (values.has(wanted)) return true;
    if (how === "words") return words.contains(text);
    for (let at = asked.indexOf(wanted); at !== -1; at = asked.indexOf(wanted, at + 1)) {
      const end = at + wanted.length;
      const isSaid =
        how === "quotes"
          ? QUOTES.has(`${asked.charAt(at - 1)}${asked.charAt(end)}`)
          : NAMED_AS_ID.test(asked.slice(Math.max(0, at - LONGEST_BEFORE), at));
      if (isSaid) return true;
    }
    return false;
  };
}
