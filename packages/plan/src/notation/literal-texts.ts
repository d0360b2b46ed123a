import { containsAsWords } from "./word-boundary.ts";

/** Literal texts in the form of a reference: the request contains them, or they were escaped. */
export interface LiteralTexts {
  has(text: string): boolean;
  /** True for a text that the plan declares, or that was added. */
  isDeclared(text: string): boolean;
  /** Adds a literal text that was found. */
  add(text: string): void;
  /** The literal texts that were found, in order. */
  readonly met: readonly string[];
}

/**
 * @param known - declared by the plan
 * @param request - the request, in which texts must occur literally
 */
export function createLiteralTexts(known: readonly string[], request: string | undefined): LiteralTexts {
  const all = new Set(known);
  const met = new Set<string>();
  const said = new Map<string, boolean>();
  const isSaid = (text: string) => {
    const known = said.get(text) ?? (request !== undefined && isContained(request, text));
    said.set(text, known);
    return known;
  };
  return {
    has: (text) => met.has(text) || (met.size < MAX_LITERALS && (all.has(text) || isSaid(text))),
    isDeclared: (text) => all.has(text),
    add(text) {
      all.add(text);
      met.add(text);
    },
    get met() {
      return [...met];
    },
  };
}

/** Maximum number of literals in a plan. */
const MAX_LITERALS = 1_000;

/** True when the request contains the complete text: `$1` is not contained in `$100` or `$1.50`. */
function isContained(request: string, text: string): boolean {
  const isNumber = /[\p{L}\p{N}_]$/u.test(text);
  return containsAsWords(request, text, (after) => isNumber && /^[.,][0-9]/.test(after));
}
