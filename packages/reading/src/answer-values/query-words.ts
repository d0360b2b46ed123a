import { containsAsWords } from "@planwright/plan";

/** Checks which texts a request contains. */
export interface QueryWords {
  /** True when the query contains the text as complete words. Case and white space do not matter. */
  contains(text: string): boolean;
}

/** Indexes a query; without a query nothing is contained. */
export function createQueryWords(query: string | undefined): QueryWords {
  const plain = normalText(query ?? "");
  const spoken = plain.replace(/ at /g, "@").replace(/ dot /g, ".");
  return {
    contains(text) {
      const wanted = normalText(text);
      return wanted !== "" && (containsAsWords(plain, wanted) || containsAsWords(spoken, wanted));
    },
  };
}

/** The normal form for comparison: lower case, plain quotes, single spaces. */
export function normalText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
