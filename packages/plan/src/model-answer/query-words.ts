/** What a person asked for, as far as values go. */
export interface QueryWords {
  /** True when the text stands in the query as a whole: letters and digits do not go on at its ends. Case and space do not matter. */
  contains(text: string): boolean;
}

/** Prepares a query. Without one, nothing is in it. */
export function createQueryWords(query: string | undefined): QueryWords {
  const plain = normalText(query ?? "");
  const spoken = plain.replace(/ at /g, "@").replace(/ dot /g, ".");
  return {
    contains(text) {
      const wanted = normalText(text);
      return wanted !== "" && (standsIn(plain, wanted) || standsIn(spoken, wanted));
    },
  };
}

/** A text as texts are compared: in one case, with plain quotes and single spaces. */
export function normalText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

function standsIn(text: string, wanted: string): boolean {
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    const before = text.charAt(at - 1);
    const after = text.charAt(at + wanted.length);
    const goesOn =
      (isWord(before) && isWord(wanted.charAt(0))) ||
      (isWord(after) && isWord(wanted.charAt(wanted.length - 1)));
    if (!goesOn) return true;
  }
  return false;
}

function isWord(char: string): boolean {
  return /^[\p{L}\p{N}_]$/u.test(char);
}
