import {
  isSpace,
  mayBeginRoot,
  type ReferenceSpelling,
  readReference,
  type TextReference,
} from "./read-reference.ts";

/** Text between references, without escapes. */
export interface LiteralText {
  readonly type: "literal";
  readonly text: string;
}

/**
 * A text that opens like a reference with a name, but is not a reference: `<<a.b` or `{{a..b}}`. It stays
 * text.
 */
export interface MalformedReference {
  readonly root: string;
  readonly start: number;
  readonly text: string;
}

/** Result of {@link scanText}. */
export interface ScannedText {
  readonly parts: readonly (LiteralText | TextReference)[];
  readonly malformed: readonly MalformedReference[];
}

const MAX_MALFORMED = 100;
const LESS = 60;
const BRACE = 123;
const DOLLAR = 36;
const BACKSLASH = 92;

/**
 * Splits a text into literals and references in one pass from left to right. Linear time: a failed attempt
 * reads only characters that no later attempt of the same kind reads again.
 * @returns undefined when the text contains no reference, no escape and nothing malformed: it is literal
 */
export function scanText(text: string): ScannedText | undefined {
  if (!text.includes("<<") && !text.includes("{{") && !text.includes("$ref:")) return undefined;
  const parts: (LiteralText | TextReference)[] = [];
  const malformed: MalformedReference[] = [];
  let literal = "";
  let from = 0;
  let at = 0;
  let changed = false;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH && openerAt(text, at + 1)) {
      const opener = openerAt(text, at + 1) ?? "<<";
      literal += text.slice(from, at) + opener;
      at += 1 + opener.length;
      from = at;
      changed = true;
      continue;
    }
    if (code !== LESS && code !== BRACE && code !== DOLLAR) {
      at++;
      continue;
    }
    // Of a run such as <<<< only the last two characters can open a reference.
    if (code !== DOLLAR) at = Math.max(endOfRun(text, at, code) - 2, at);
    const opener = openerAt(text, at);
    if (!opener || !mayBeginRoot(text.charCodeAt(at + opener.length))) {
      at++;
      continue;
    }
    const read = readReference(text, at, opener);
    if (read?.type === "reference") {
      literal += text.slice(from, at);
      if (literal !== "") parts.push({ type: "literal", text: literal });
      literal = "";
      parts.push(read);
      at = read.end;
      from = at;
      changed = true;
      continue;
    }
    // "a << b" is arithmetic, and "{{ a. }}" a mistake.
    const isSpaced = opener === "<<" && isSpace(text.charCodeAt(at + 2));
    if (read && !isSpaced && malformed.length < MAX_MALFORMED)
      malformed.push({ root: read.root, start: at, text: text.slice(at, at + 80) });
    at++;
  }
  if (!changed && malformed.length === 0) return undefined;
  literal += text.slice(from);
  if (literal !== "") parts.push({ type: "literal", text: literal });
  return { parts, malformed };
}

function openerAt(text: string, at: number): ReferenceSpelling | undefined {
  switch (text.charCodeAt(at)) {
    case LESS:
      return text.charCodeAt(at + 1) === LESS ? "<<" : undefined;
    case BRACE:
      return text.charCodeAt(at + 1) === BRACE ? "{{" : undefined;
    case DOLLAR:
      return text.startsWith("$ref:", at) ? "$ref:" : undefined;
    default:
      return undefined;
  }
}

function endOfRun(text: string, from: number, code: number): number {
  let end = from;
  while (text.charCodeAt(end) === code) end++;
  return end;
}
