/** Finds texts in the form of a reference in the notations of other planners and template languages. */
import { readPath } from "../reference/read-reference.ts";
import { MAX_INNER } from "./read-inner.ts";

/** The signs around or before a reference; `<>-` means `<GENERATED>-0`, `$$` means `$var1.text$`. */
export type Signs =
  | "<<"
  | "{{"
  | "$ref:"
  | "${{"
  | "${"
  | "$("
  | "{"
  | "[["
  | "%"
  | "$$"
  | "<"
  | "<>-"
  | "$"
  | "#"
  | "@"
  | "=";

/** A text that may be a reference; `end` is exclusive. */
export interface Candidate {
  readonly signs: Signs;
  readonly start: number;
  readonly end: number;
  /** The text between or after the signs. */
  readonly inner: string;
}

const NAME = /[\p{L}\p{N}_][\p{L}\p{N}_-]{0,127}/uy;
const WORD_BEFORE = /[\p{L}\p{N}_]$/u;
const GENERATED = /<[A-Za-z_]{1,30}>-(?=[0-9])/y;

/** True for a text without any of the signs. */
export function hasNoSigns(text: string): boolean {
  return !/[<{$#@%=]|\[\[/.test(text);
}

/** The candidates at a position, the form with the most signs first. The look-ahead is bounded. */
export function candidatesAt(text: string, start: number): Candidate[] {
  const found = (signs: Signs, inner: string | undefined, close: string): Candidate[] =>
    inner === undefined || inner.trim() === ""
      ? []
      : [{ signs, start, inner, end: start + openOf(signs).length + inner.length + close.length }];
  const enclosed = (signs: Signs, close: string) =>
    text.startsWith(openOf(signs), start)
      ? found(signs, between(text, start + openOf(signs).length, close), close)
      : [];
  const before = text.slice(Math.max(0, start - 2), start);
  const isApart = !WORD_BEFORE.test(before);
  const sign = text.charAt(start);
  // Of a run such as <<<< only the last two characters can open a reference, as in our own notation.
  if (
    (sign === "<" || sign === "{") &&
    (text.startsWith(sign.repeat(3), start) || isSecond(text, start, sign))
  )
    return [];
  switch (sign) {
    case "<":
      if (text.startsWith("<<", start)) return enclosed("<<", ">>");
      return [...generatedAt(text, start), ...angledAt(text, start)];
    case "{":
      return text.startsWith("{{", start) ? enclosed("{{", "}}") : enclosed("{", "}");
    case "[":
      return enclosed("[[", "]]");
    case "%":
      return isApart ? enclosed("%", "%").filter(({ inner }) => !/\s/.test(inner)) : [];
    case "$":
      if (!isApart || before.endsWith("$")) return [];
      if (text.startsWith("${{", start)) return enclosed("${{", "}}");
      if (text.startsWith("${", start)) return enclosed("${", "}");
      if (text.startsWith("$ref:", start)) return refAt(text, start);
      return [
        ...enclosed("$$", "$").filter(({ inner }) => !/\s/.test(inner)),
        ...wholeAt(text, start, "$"),
        ...enclosed("$(", ")"),
        ...signedAt(text, start, "$"),
      ];
    case "#":
      return isApart && !/[&/#]$/.test(before) ? signedAt(text, start, "#") : [];
    case "@":
      if (!isApart || /[.@/]$/.test(before)) return [];
      if (text.startsWith("@{", start)) return found("${", between(text, start + 2, "}"), "}");
      return [...wholeAt(text, start, "@"), ...signedAt(text, start, "@")];
    case "=":
      if (before !== "" && !/[\s("'`:]$/.test(before)) return [];
      return [...wholeAt(text, start, "="), ...signedAt(text, start, "=")];
    default:
      return [];
  }
}

/** True for the last sign of a run: the previous one was already checked as an opener of two signs. */
function isSecond(text: string, start: number, sign: string): boolean {
  return text.charAt(start - 1) === sign && text.charAt(start + 1) !== sign;
}

function openOf(signs: Signs): string {
  return signs === "$$" ? "$" : signs;
}

/** The text up to the closing signs, if it is short and on one line. */
function between(text: string, from: number, close: string): string | undefined {
  const ahead = text.slice(from, from + MAX_INNER + close.length);
  const end = ahead.indexOf(close);
  const inner = ahead.slice(0, end);
  return end === -1 || /[\r\n]/.test(inner) ? undefined : inner;
}

/** `<s1.text>`, and `<s1.text>>` with a missing opening sign, which is consumed completely. */
function angledAt(text: string, start: number): Candidate[] {
  const inner = between(text, start + 1, ">");
  if (inner === undefined || inner.trim() === "") return [];
  const close = start + 1 + inner.length;
  return [{ signs: "<", start, inner, end: close + (text.startsWith(">>", close) ? 2 : 1) }];
}

/** `<GENERATED>-0`, which a path may follow. */
function generatedAt(text: string, start: number): Candidate[] {
  GENERATED.lastIndex = start;
  const open = GENERATED.exec(text)?.[0];
  if (open === undefined) return [];
  const end = tokenEnd(text, start + open.length);
  return end === undefined ? [] : [{ signs: "<>-", start, end, inner: text.slice(start + open.length, end) }];
}

/** `$ref:1.text`: everything up to a space or a sign that ends a value. */
function refAt(text: string, start: number): Candidate[] {
  const inner = /^[^\s"'`,;)}<>]*/
    .exec(text.slice(start + 5, start + 5 + MAX_INNER))?.[0]
    .replace(/[.:!?]$/, "");
  return inner === undefined || inner === ""
    ? []
    : [{ signs: "$ref:", start, end: start + 5 + inner.length, inner }];
}

/** A candidate that is the complete text: it may contain more than a token inside a text, such as calls. */
function wholeAt(text: string, start: number, signs: "$" | "@" | "="): Candidate[] {
  if (start !== 0 || text.length > MAX_INNER || /[\r\n]/.test(text)) return [];
  return [
    {
      signs,
      start,
      end: text.length,
      inner: signs === "$" && /^\$[.['"(]/.test(text) ? text : text.slice(1),
    },
  ];
}

/** A sign, a name, and a path. */
function signedAt(text: string, start: number, signs: "$" | "#" | "@" | "="): Candidate[] {
  const isPathOnly = signs === "$" && /[.[]/.test(text.charAt(start + 1));
  const end = isPathOnly ? readPath(text, start + 1, false).end : tokenEnd(text, start + 1);
  if (end === undefined || end === start + 1) return [];
  const inner = text.slice(isPathOnly ? start : start + 1, end);
  return isPrice(signs, inner, text.slice(end, end + 2)) ? [] : [{ signs, start, end, inner }];
}

/** `$1.50`, `$1,000`, `$5%`. */
function isPrice(signs: Signs, inner: string, after: string): boolean {
  return (
    signs === "$" && (/^[0-9]+\.[0-9]/.test(inner) || (/^[0-9]+$/.test(inner) && /^(?:,[0-9]|%)/.test(after)))
  );
}

function tokenEnd(text: string, from: number): number | undefined {
  NAME.lastIndex = from;
  const name = NAME.exec(text)?.[0];
  return name === undefined ? undefined : readPath(text, from + name.length, false).end;
}
