import { standsAsWhole } from "../notation/word-boundary.ts";

/** Tells which texts a request says. */
export interface QueryWords {
  /** True when the query says the text as whole words. Case and white space do not matter. */
  contains(text: string): boolean;
}

/** Prepares a query; without one it contains nothing. */
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
