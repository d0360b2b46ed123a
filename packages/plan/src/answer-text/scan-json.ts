import { isCallField } from "../dialect/call-fields.ts";
import { plainName } from "../dialect/field-words.ts";
import { endOfEllipsis, isElidingComment } from "./elision.ts";
import { beginsComment, isQuote, readString, skipSpaces } from "./read-string.ts";

/** What begins with a bracket, from its first to its last character. */
export type ScannedJson =
  | ClosedJson
  /** The answer ends, or its code block does, before the brackets are closed. */
  | { readonly type: "cut" }
  | { readonly type: "too-deep" }
  /** Its quotes are escaped: it is the inside of a JSON text. */
  | { readonly type: "escaped" }
  /** No JSON, not even with defects. `speaksOfSteps`: it was meant as a plan, not as prose in brackets. */
  | {
      readonly type: "broken";
      readonly at: number;
      readonly reason: string;
      readonly speaksOfSteps: boolean;
      readonly isElided: boolean;
    };

/** Puts `text` where `start` to `end` was. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Brackets that are closed. */
export interface ClosedJson {
  readonly type: "closed";
  /** Position behind the last bracket. */
  readonly end: number;
  /**
   * Brackets, names and values in order, without commas, comments and kinds of quotes: what the JSON says.
   */
  readonly tokens: readonly string[];
  /** What to repair in the text, in order: comments go, texts in foreign quotes become texts of JSON. */
  readonly edits: readonly Edit[];
  /** Commas that are missing or too many. */
  readonly slips: number;
  /** An ellipsis, or a comment that stands for something left out, is among it. */
  readonly isElided: boolean;
  /** A name that one object holds twice. */
  readonly doubleName: string | undefined;
  readonly speaksOfSteps: boolean;
}

/**
 * Deepest nesting that is read: arguments may have 64 levels, a plan in its wrappers has a few around them.
 */
const MAX_DEPTH = 128;

/** Names that only plans have, beside those of the fields of calls; `name` and `id` say nothing. */
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
 * Reads JSON with the defects that models write (single or curly quotes, comments, commas too many or
 * missing, bare names, words of Python) from its first bracket to its last. One pass, without recursion.
 * Nothing is repaired here.
 */
export function scanJson(text: string, start: number): ScannedJson {
  return new Scanner(text, start).scan();
}

class Scanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  readonly #tokens: string[] = [];
  readonly #edits: Edit[] = [];
  #at: number;
  #slips = 0;
  #hasQuotes = false;
  #isElided = false;
  #doubleName: string | undefined;
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
      tokens: this.#tokens,
      edits: this.#edits,
      slips: this.#slips,
      isElided: this.#isElided,
      doubleName: this.#doubleName,
      speaksOfSteps: this.#speaksOfSteps,
    };
  }

  /** Takes one token. */
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
        else this.#slips++;
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
    this.#tokens.push(char);
    this.#at++;
  }

  #close(level: Level): ScannedJson | undefined {
    if (level.isObject && level.expects === "value") return this.#broken("a value is missing");
    if (level.expects === "name" || level.expects === "value") this.#slips++;
    this.#tokens.push(level.isObject ? "}" : "]");
    this.#levels.pop();
    this.#at++;
    return undefined;
  }

  #name(level: Level): ScannedJson | undefined {
    const name = this.#textOrWord();
    if (name === undefined) return { type: "cut" };
    if (name.isUnclear) return this.#broken(UNCLEAR, name.end);
    if (!name.isQuoted && !NAME.test(name.value)) return this.#brokenWord("a name is missing", name.end);
    if (level.names.has(name.value)) this.#doubleName ??= name.value;
    level.names.add(name.value);
    this.#speaksOfSteps ||= PLAN_NAMES.has(plainName(name.value)) || isCallField(name.value);
    this.#take(`"${name.value}`, name.end);
    level.expects = "colon";
    return undefined;
  }

  #value(level: Level): ScannedJson | undefined {
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
      this.#take(`"${value.value}`, value.end);
      return undefined;
    }
    const literal = LITERALS.get(value.value);
    if (literal === undefined && !NUMBER.test(value.value))
      return this.#brokenWord("a value is missing", value.end);
    if (literal === undefined && isInexact(value.value))
      return this.#broken(`${value.value.slice(0, 40)} is too large for a number; write it as text`);
    this.#take(`=${literal ?? value.value}`, value.end);
    return undefined;
  }

  /** Undefined when a quote is never closed. */
  #textOrWord(): { value: string; end: number; isQuoted: boolean; isUnclear: boolean } | undefined {
    if (isQuote(this.#text.charAt(this.#at))) {
      const quoted = readString(this.#text, this.#at);
      this.#hasQuotes = true;
      if (quoted?.isForeign)
        this.#edits.push({ start: this.#at, end: quoted.end, text: JSON.stringify(quoted.value) });
      return quoted && { ...quoted, isQuoted: true };
    }
    WORD.lastIndex = this.#at;
    const [value] = WORD.exec(this.#text) ?? [""];
    return { value, end: this.#at + value.length, isQuoted: false, isUnclear: false };
  }

  #take(token: string, end: number): void {
    this.#tokens.push(token);
    this.#at = end;
  }

  /** Skips white space, comments, and ellipses outside of texts. */
  #skip(): void {
    for (;;) {
      this.#at = skipSpaces(this.#text, this.#at);
      const end = endOfEllipsis(this.#text, this.#at) ?? this.#endOfComment();
      if (end === undefined) return;
      this.#isElided ||= isElidingComment(this.#text.slice(this.#at, end));
      this.#edits.push({ start: this.#at, end, text: " " });
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

  /** Also where a code block or a tag ends that should have held all of it. */
  #isAtEnd(): boolean {
    return (
      this.#at >= this.#text.length || ["```", "</", "<|"].some((end) => this.#text.startsWith(end, this.#at))
    );
  }

  /** A word that reaches the end of the answer may be the beginning of a valid one: the answer was cut. */
  #brokenWord(reason: string, end: number): ScannedJson {
    const isLast = end > this.#at && skipSpaces(this.#text, end) >= this.#text.length;
    return isLast ? { type: "cut" } : this.#broken(reason, end);
  }

  /** No character is read twice; otherwise a hostile answer could take quadratic time. */
  #broken(reason: string, end = this.#at): ScannedJson {
    const at = Math.max(end, this.#at + 1);
    return { type: "broken", at, reason, speaksOfSteps: this.#speaksOfSteps, isElided: this.#isElided };
  }
}

/** Whole numbers beyond 2^53 lose digits when they are read: an id would become another one. */
function isInexact(number: string): boolean {
  return /^-?[0-9]+$/.test(number) && !Number.isSafeInteger(Number(number));
}
