import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { isCallField, plainName, unescapeText } from "@planwright/plan/internal";

/** The scan result of a text that begins with a bracket. */
type ScannedJson =
  | ClosedJson
  /** The answer or its code block ends before the brackets are closed. */
  | { readonly type: "cut" }
  | { readonly type: "too-deep" }
  /** Its quotes are escaped: it is the inside of a JSON text. */
  | { readonly type: "escaped" }
  /** Not JSON, not even with defects. `speaksOfSteps`: it was meant as a plan, not as prose in brackets. */
  | {
      readonly type: "broken";
      readonly at: number;
      readonly reason: string;
      readonly speaksOfSteps: boolean;
      readonly isElided: boolean;
    };

/** A text whose brackets are closed. */
export interface ClosedJson {
  readonly type: "closed";
  /** Position after the last bracket. */
  readonly end: number;
  /** Its brackets, names and values in order, as JSON text: without comments, in JSON quotes, with each comma. */
  readonly json: string;
  /** It contains an ellipsis, or a comment that replaces a part that was left out. */
  readonly isElided: boolean;
  /** Why it has more than one possible meaning; undefined when it has one. */
  readonly doubt: string | undefined;
  readonly speaksOfSteps: boolean;
}

/**
 * Deepest nesting that is read: arguments may have 64 levels, a plan in its wrappers has a few around them.
 */
const MAX_DEPTH = 128;

/**
 * Field names that only plans have, in addition to the fields of calls; `name` and `id` occur in any JSON.
 */
const PLAN_NAMES = new Set(
  "steps tools calls plan toolcalls function dependson executionorder outputsteps".split(" "),
);

const LITERALS: ReadonlyMap<string, string> = new Map([
  ["true", "true"],
  ["True", "true"],
  ["false", "false"],
  ["False", "false"],
  ["null", "null"],
  ["None", "null"],
  ["undefined", "null"],
]);
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const UNCLEAR = "a quote inside a text is not escaped";
const WORD = /[A-Za-z0-9_$+.-]*/y;
const NAME = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;

interface Level {
  readonly isObject: boolean;
  readonly names: Set<string>;
  expects: "first" | "name" | "colon" | "value" | "comma";
}

/**
 * Scans JSON with typical defects of models (single or curly quotes, comments, extra or missing commas, bare
 * names, Python literals) from its first bracket to its last. One pass, without recursion. It closes, adds and
 * removes nothing except commas, comments and kinds of quotes.
 */
export function scanJson(text: string, start: number): ScannedJson {
  return new Scanner(text, start).scan();
}

class Scanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  readonly #json: string[] = [];
  #at: number;
  #hasQuotes = false;
  #isElided = false;
  #doubt: string | undefined;
  #speaksOfSteps = false;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  scan(): ScannedJson {
    this.#open();
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
      if (this.#levels.length > MAX_DEPTH) return { type: "too-deep" };
      this.#skip();
      if (this.#isAtEnd()) return { type: "cut" };
      const problem = this.#next(level);
      if (problem) return problem;
    }
    return {
      type: "closed",
      end: this.#at,
      json: this.#json.join(""),
      isElided: this.#isElided,
      doubt: this.#doubt,
      speaksOfSteps: this.#speaksOfSteps,
    };
  }

  /** Reads one token. */
  #next(level: Level): ScannedJson | undefined {
    const char = this.#text.charAt(this.#at);
    if (char === "\\" && !this.#hasQuotes) return { type: "escaped" };
    if (char === (level.isObject ? "}" : "]") && level.expects !== "colon") return this.#close(level);
    switch (level.expects) {
      case "colon":
        if (char !== ":") return this.#broken("a colon is missing");
        level.expects = "value";
        this.#at++;
        return undefined;
      case "comma":
        level.expects = level.isObject ? "name" : "value";
        if (char === ",") this.#at++;
        return undefined;
      case "first":
      case "name":
      case "value":
        return level.isObject && level.expects !== "value" ? this.#name(level) : this.#value(level);
    }
  }

  #open(): void {
    const char = this.#text.charAt(this.#at);
    this.#levels.push({ isObject: char === "{", names: new Set(), expects: "first" });
    this.#take(char, this.#at + 1);
  }

  #close(level: Level): ScannedJson | undefined {
    if (level.isObject && level.expects === "value") return this.#broken("a value is missing");
    this.#levels.pop();
    this.#take(level.isObject ? "}" : "]", this.#at + 1);
    return undefined;
  }

  #name(level: Level): ScannedJson | undefined {
    const name = this.#textOrWord();
    if (name === undefined) return { type: "cut" };
    if (name.isUnclear) return this.#broken(UNCLEAR, name.end);
    if (!name.isQuoted && !NAME.test(name.value)) return this.#brokenWord("a name is missing", name.end);
    if (level.names.has(name.value)) this.#doubt ??= `one object has two fields ${name.value.slice(0, 80)}`;
    level.names.add(name.value);
    this.#speaksOfSteps ||= PLAN_NAMES.has(plainName(name.value)) || isCallField(name.value);
    this.#take(`${level.expects === "first" ? "" : ","}${JSON.stringify(name.value)}:`, name.end);
    level.expects = "colon";
    return undefined;
  }

  #value(level: Level): ScannedJson | undefined {
    if (!level.isObject && level.expects !== "first") this.#json.push(",");
    level.expects = "comma";
    const char = this.#text.charAt(this.#at);
    if (char === "{" || char === "[") {
      this.#open();
      return undefined;
    }
    const value = this.#textOrWord();
    if (value === undefined) return { type: "cut" };
    if (value.isUnclear) return this.#broken(UNCLEAR, value.end);
    if (value.isQuoted) {
      this.#take(JSON.stringify(value.value), value.end);
      return undefined;
    }
    const literal = LITERALS.get(value.value);
    if (literal === undefined && !NUMBER.test(value.value))
      return this.#brokenWord("a value is missing", value.end);
    this.#take(literal ?? value.value, value.end);
    return undefined;
  }

  /** Undefined when a quote is never closed. */
  #textOrWord(): { value: string; end: number; isQuoted: boolean; isUnclear: boolean } | undefined {
    if (isQuote(this.#text.charAt(this.#at))) {
      const quoted = readString(this.#text, this.#at);
      this.#hasQuotes = true;
      if (quoted?.hasHalfEscape) this.#doubt ??= "a \\u in a text is not followed by four digits";
      return quoted && { ...quoted, isQuoted: true };
    }
    WORD.lastIndex = this.#at;
    const [value] = WORD.exec(this.#text) ?? [""];
    return { value, end: this.#at + value.length, isQuoted: false, isUnclear: false };
  }

  #take(json: string, end: number): void {
    this.#json.push(json);
    this.#at = end;
  }

  /** Skips white space, comments, and ellipses outside of texts. */
  #skip(): void {
    for (;;) {
      this.#at = skipSpaces(this.#text, this.#at);
      const end = endOfEllipsis(this.#text, this.#at) ?? this.#endOfComment();
      if (end === undefined) return;
      this.#isElided ||= isElidingComment(this.#text.slice(this.#at, end));
      this.#at = end;
    }
  }

  #endOfComment(): number | undefined {
    const isBlock = this.#text.startsWith("/*", this.#at);
    const isLine = this.#text.charAt(this.#at) === "#" || beginsComment(this.#text, this.#at);
    if (!isBlock && !isLine) return undefined;
    const close = this.#text.indexOf(isBlock ? "*/" : "\n", this.#at + 2);
    return close === -1 ? this.#text.length : close + (isBlock ? 2 : 0);
  }

  /** True at the end of the answer, or at the end of the code block or tag around the JSON. */
  #isAtEnd(): boolean {
    return (
      this.#at >= this.#text.length || ["```", "</", "<|"].some((end) => this.#text.startsWith(end, this.#at))
    );
  }

  /** A word at the end of the answer may be the beginning of a valid one: then the answer was cut. */
  #brokenWord(reason: string, end: number): ScannedJson {
    const isLast = end > this.#at && skipSpaces(this.#text, end) >= this.#text.length;
    return isLast ? { type: "cut" } : this.#broken(reason, end);
  }

  /**
   * The scan result for broken JSON. No character is read twice, so a hostile answer cannot take quadratic
   * time.
   */
  #broken(reason: string, end = this.#at): ScannedJson {
    const at = Math.max(end, this.#at + 1);
    return { type: "broken", at, reason, speaksOfSteps: this.#speaksOfSteps, isElided: this.#isElided };
  }
}

/** A text in quotes of any kind. */
interface QuotedText {
  /** The text without escapes. */
  readonly value: string;
  /** Position after the closing quote. */
  readonly end: number;
  /** True for JSON quotes around a `\u` without four digits: it may be a character or a path of Windows. */
  readonly hasHalfEscape: boolean;
  /**
   * True when a quote inside is neither an apostrophe nor part of a pair around words: it may have been meant
   * to end the text.
   */
  readonly isUnclear: boolean;
}

/** Closing quotes by opening quote. */
const CLOSERS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["“", '“”"'],
  ["”", '“”"'],
  ["‘", "‘’'"],
  ["’", "‘’'"],
]);

const HEX = /^[0-9a-f]{4}$/i;

/** True for a character that opens a text in quotes. */
export function isQuote(char: string): boolean {
  return CLOSERS.has(char);
}

/**
 * Reads the text in quotes at `start`. A quote closes it when the next character can follow a text in JSON;
 * in valid JSON every quote without a backslash does. Any other quote belongs to the text, such as the
 * apostrophe in 'Alice's blog'.
 * @returns undefined when the text is never closed
 */
function readString(text: string, start: number): QuotedText | undefined {
  const closers = CLOSERS.get(text.charAt(start)) ?? '"';
  const isPlain = text.charAt(start) === '"';
  let hasEscape = false;
  let hasHalfEscape = false;
  const strays: number[] = [];
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\\") {
      hasEscape = true;
      at++;
      hasHalfEscape ||= isPlain && text.charAt(at) === "u" && !HEX.test(text.slice(at + 1, at + 5));
    } else if (closers.includes(char)) {
      if (mayFollowText(text, at + 1)) {
        const raw = text.slice(start + 1, at);
        const value = hasEscape ? unescapeText(raw) : raw;
        return { value, end: at + 1, hasHalfEscape, isUnclear: !areClear(text, strays) };
      }
      strays.push(at);
    }
  }
  return undefined;
}

/**
 * True when all stray quotes are apostrophes (after a letter) or pairs around words, with a space or bracket
 * outside and no space inside.
 */
function areClear(text: string, strays: readonly number[]): boolean {
  const doubles = strays.filter((at) => !"'‘’".includes(text.charAt(at)));
  const isApostrophe = (at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at - 1));
  const isOpening = (at: number) => /[\s([]/.test(text.charAt(at - 1)) && /\S/.test(text.charAt(at + 1));
  const isClosing = (at: number) => /\S/.test(text.charAt(at - 1));
  return (
    doubles.length % 2 === 0 &&
    doubles.every((at, index) => (index % 2 === 0 ? isOpening(at) : isClosing(at))) &&
    strays.every((at) => !"'‘’".includes(text.charAt(at)) || isApostrophe(at))
  );
}

/** True at a comma, a colon, a closing bracket, a comment, a new line, or the end. */
function mayFollowText(text: string, from: number): boolean {
  const at = skipSpaces(text, from);
  if (at === text.length || text.slice(from, at).includes("\n")) return true;
  return ",:]}#".includes(text.charAt(at)) || beginsComment(text, at);
}

/** True when `//` or a block comment begins here. */
export function beginsComment(text: string, at: number): boolean {
  return text.startsWith("//", at) || text.startsWith("/*", at);
}

const SPACES = /\s*/y;

/** Position of the first character at or after `from` that is not white space. */
export function skipSpaces(text: string, from: number): number {
  SPACES.lastIndex = from;
  return SPACES.test(text) ? SPACES.lastIndex : from;
}

const ELLIPSIS = /\.{3}|…/;
/** Words in a comment that replaces calls or values which the model left out. */
const LEFT_OUT =
  /\b(?:etc|and so on|and so forth|omitted|abbreviated|truncated|elided|similarly|likewise|repeat(?:ed)? for|same for|continued?|as above|(?:the )?rest (?:of|is|are|goes|follows?|here)|remaining (?:steps?|calls?|tools?|items?|ones|entries|authors?|parameters|arguments|fields)|(?:more|other|further|additional) (?:steps?|calls?|tools?|items?|entries|arguments|fields)(?: (?:here|follow|below|go|as|for|would|can|if))?$)\b/i;

/** True for a comment that replaces something which was left out. */
function isElidingComment(comment: string): boolean {
  return ELLIPSIS.test(comment) || LEFT_OUT.test(comment.trim());
}

/** The end of the ellipsis at a position; undefined when there is none. */
function endOfEllipsis(text: string, at: number): number | undefined {
  if (text.charAt(at) === "…") return at + 1;
  if (!text.startsWith("...", at)) return undefined;
  let end = at + 3;
  while (text.charAt(end) === ".") end++;
  return end;
}

/**
 * True for a plan in which an ellipsis replaces calls, as a text or as a name: `[{..}, "..."]`, `{"...": "..."}`.
 */
export function hasElidedCalls(document: JsonObject | JsonValue[]): boolean {
  if (Array.isArray(document)) return document.some(isElided);
  return (
    Object.keys(document).some(isEllipsis) ||
    Object.values(document).some((value) => Array.isArray(value) && value.some(isElided))
  );
}

function isElided(item: JsonValue): boolean {
  if (typeof item === "string") return isEllipsis(item) || isElidingComment(item.slice(0, 200));
  return isJsonObject(item) && Object.keys(item).some(isEllipsis);
}

function isEllipsis(text: string): boolean {
  return /^(?:\.{3,20}|…)$/.test(text.trim());
}
