import { isFreeText, isLongText, type Parameter } from "@planwright/models/words";
import { CONDITION_WORDS, QUANTIFIERS, SPEAKERS } from "../text/lexicon.ts";
import { isSeparator, skipSeparators } from "../text/separators.ts";
import type { Token } from "../text/tokens.ts";
import { isIdentifier, isPath } from "../text/value-for.ts";
import { beginsArgument } from "./boundaries.ts";
import type { Mode, Reading } from "./reading.ts";

/** A value exactly as in the sentence. */
export interface ReadValue {
  text: string;
  kind: Token["kind"];
  next: number;
}

const PARTICLES = new Set("of the van der de von da la le bin al el".split(" "));

/** Reads the value at a position; null when none can begin there. */
export function readValue(reading: Reading, at: number, mode: Mode): ReadValue | null {
  const first = reading.tokens[at];
  if (!first || isSeparator(first)) return null;
  if (first.kind === "quoted") return { text: first.text, kind: "quoted", next: at + 1 };
  if (mode === "name" && (QUANTIFIERS.has(first.lower) || SPEAKERS.has(first.lower))) return null;
  if (mode === "name" && first.kind !== "word") return { text: first.text, kind: first.kind, next: at + 1 };
  const next = endOfValue(reading, at, mode);
  const end = reading.tokens[next - 1]?.end ?? first.end;
  const text = reading.sentence.slice(first.start, end).replace(/\s+/g, " ");
  return { text, kind: next === at + 1 ? first.kind : "word", next };
}

function endOfValue(reading: Reading, at: number, mode: Mode): number {
  const isProper = /^\p{Lu}/u.test(reading.tokens[at]?.text ?? "");
  const first = reading.tokens[at]?.text ?? "";
  const isId = isIdentifier(first) || isPath(first);
  let next = at + 1;
  while (next < reading.tokens.length) {
    const token = reading.tokens[next];
    if (!token || (CONDITION_WORDS.has(token.lower) && token.kind === "word")) break;
    if (isSeparator(token)) {
      if (mode === "name" && isRegion(reading, at, next)) {
        next += 2;
        continue;
      }
      const behind = skipSeparators(reading.tokens, next);
      if (mode === "name" || reading.isPlural || behind >= reading.tokens.length) break;
      if (beginsArgument(reading, behind, mode, true)) break;
    } else if (beginsArgument(reading, next, mode, false)) break;
    else if (mode === "name" && endsName(token, isProper, isId)) break;
    next += 1;
  }
  return next;
}

/** "San Francisco, CA": two capital letters after a comma belong to the name before it. */
function isRegion(reading: Reading, at: number, comma: number): boolean {
  const [first, mark, region] = [reading.tokens[at], reading.tokens[comma], reading.tokens[comma + 1]];
  const isName = /^\p{Lu}\p{Ll}/u.test(first?.text ?? "");
  return isName && mark?.text === "," && region?.kind === "word" && /^\p{Lu}{2}$/u.test(region.text);
}

const endsName = (token: Token, isProper: boolean, isId: boolean) =>
  (isId && /^\p{Ll}/u.test(token.text)) ||
  token.kind === "quoted" ||
  token.kind === "email" ||
  token.kind === "url" ||
  (isProper && /^\p{Ll}/u.test(token.text) && !PARTICLES.has(token.lower));

/** The mode for a value that follows the parameter's name. */
export function modeFor(parameter: Parameter): Mode {
  return isFreeText(parameter) && isLongText(parameter) ? "key" : "name";
}
