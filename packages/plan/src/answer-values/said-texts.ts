import type { SaidHow } from "../validation/check-no-values.ts";
import { normalText, type QueryWords } from "./query-words.ts";

/** Words with which a request asks for an empty text. */
const EMPTY =
  /""|''|“”|‘’|«»|``|(?<!\p{L})(?:empty|blank|leere?[nrs]?|vides?|vac[ií][oa]s?|vuot[oaie])(?!\p{L})|空/iu;
/** In front of an id: "author id Alice", "with the id: 'Alice'". */
const NAMED_AS_ID = /(?<![a-z])(?:[a-z]*_)?(?:ids?|uuid|identifier)(?: is| of| are| as)?\s?[:=]?\s?["'`«]?$/;
const QUOTES: ReadonlySet<string> = new Set(['""', "''", "``", "«»", "「」", "『』"]);
const LONGEST_BEFORE = 40;

/**
 * Tells which texts a request gives as values, by how it gives them. The empty text is among its words where
 * it speaks of something empty.
 * @param words - of the request, and of what else gives values
 * @param beside - what else gives values: each line of it is one, however it reads
 */
export function createSaidTexts(
  query: string | undefined,
  words: QueryWords,
  beside: string | undefined,
): (text: string, how: SaidHow) => boolean {
  const asked = normalText(query ?? "");
  const values = new Set(beside?.split("\n").map(normalText));
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
