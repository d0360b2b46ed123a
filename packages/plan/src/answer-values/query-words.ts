import { standsAsWhole } from "../notation/word-boundary.ts";

/** What a person asked for, as far as values go. */
export interface QueryWords {
  /** True when the text stands in the query as a whole: no word goes on at its ends. Case and space do not matter. */
  contains(text: string): boolean;
}

/** Prepares a query. Without one, nothing is in it. */
export function createQueryWords(query: string | undefined): QueryWords {
  const plain = normalText(query ?? "");
  const spoken = plain.replace(/ at /g, "@").replace(/ dot /g, ".");
  return {
    contains(text) {
      const wanted = normalText(text);
      return wanted !== "" && (standsAsWhole(plain, wanted) || standsAsWhole(spoken, wanted));
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
