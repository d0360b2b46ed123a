import { standsAsWhole } from "./word-boundary.ts";

/**
 * Texts that stand for themselves although they have the form of a reference: the request says them, or they
 * were escaped.
 */
export interface LiteralTexts {
  has(text: string): boolean;
  /** True for one of which the plan itself says so, or that was met. */
  isDeclared(text: string): boolean;
  /** Says that one was met. */
  add(text: string): void;
  /** Those that were met, in order. */
  readonly met: readonly string[];
}

/**
 * @param known - said by the plan; @param request - what was asked for, in which texts stand in the same
 * letters
 */
export function createLiteralTexts(known: readonly string[], request: string | undefined): LiteralTexts {
  const all = new Set(known);
  const met = new Set<string>();
  const said = new Map<string, boolean>();
  const isSaid = (text: string) => {
    const known = said.get(text) ?? (request !== undefined && standsIn(request, text));
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

/** A plan carries no more. */
const MAX_LITERALS = 1_000;

/** True where the text stands in another as a whole: `$1` does not stand in `$100` or `$1.50`. */
function standsIn(request: string, text: string): boolean {
  const isNumber = /[\p{L}\p{N}_]$/u.test(text);
  return standsAsWhole(request, text, (after) => isNumber && /^[.,][0-9]/.test(after));
}
