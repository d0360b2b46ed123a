import { splitName, stem } from "../words/word-forms.ts";

/** English words that do not distinguish tools. */
const STOP_WORDS = new Set(
  (
    "a an the this that these those it its them they he she him her his their my our your me us we you i " +
    "and or but then also so if as at by for from in into of on onto off to with without about per via " +
    "is are was be been being do does did done has have had can could will would shall should may might must " +
    "please kindly just now there here what which who whom whose how when where why all any each every some " +
    "thanks want need like let lets go use using tool tools call one given s"
  ).split(" "),
);

/**
 * The words of a text or an identifier for the search, reduced to a common root: `createdAuthors` and
 * "creating an author" -> creat, author.
 */
export function searchWords(text: string): string[] {
  return splitName(text.replace(/['’]s\b/g, "")).flatMap((word) =>
    STOP_WORDS.has(word) ? [] : [root(word)],
  );
}

/**
 * A word without plural, -ing, -ed, and a last e or y. The result may not be a word, but it is the same for
 * all forms.
 */
function root(word: string): string {
  const single = stem(word);
  const withoutEnding = /^(\p{L}{3,})(?:ing|ed)$/u.exec(single)?.[1] ?? single;
  const undoubled =
    withoutEnding === single ? withoutEnding : withoutEnding.replace(/([bdglmnprt])\1$/u, "$1");
  return undoubled.length > 3 ? undoubled.replace(/[ey]$/u, "") : undoubled;
}
