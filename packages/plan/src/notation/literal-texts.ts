/** Texts that stand for themselves although they have the form of a reference: the request says them, or they were escaped. */
export interface LiteralTexts {
  has(text: string): boolean;
  /** True for one of which the plan itself says so, or that was met. */
  isDeclared(text: string): boolean;
  /** Says that one was met. */
  add(text: string): void;
  /** Those that were met, in order. */
  readonly met: readonly string[];
}

/** @param known - said by the plan; @param request - what was asked for, in which texts stand in the same letters */
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
const WORD = /[\p{L}\p{N}_]/u;

/** True where the text stands in another as a whole: `$1` does not stand in `$100` or `$1.50`. */
function standsIn(request: string, text: string): boolean {
  if (text === "") return false;
  for (let at = request.indexOf(text); at !== -1; at = request.indexOf(text, at + 1)) {
    const before = request.slice(Math.max(0, at - 1), at);
    const after = request.slice(at + text.length, at + text.length + 2);
    const goesOn =
      (WORD.test(before) && WORD.test(text.charAt(0))) ||
      (WORD.test(text.charAt(text.length - 1)) && (WORD.test(after.charAt(0)) || /^[.,][0-9]/.test(after)));
    if (!goesOn) return true;
  }
  return false;
}
