/**
 * Masks the values of secrets in everything that a server sends. This is the only place that decides how they
 * are found and what replaces them.
 *
 * 1. A value without secrets is returned as the same object.
 * 2. White space is ignored, and consecutive texts are searched as one, so that a secret that is split over
 *    lines, parts or fields is found.
 */
import type { Outcome } from "@planwright/engine";
import {
  digitsOf,
  isJsonNumber,
  isJsonObject,
  isSecretKey,
  type JsonObject,
  JsonText,
  type JsonValue,
  type OutputText,
  REDACTED,
} from "@planwright/plan";
import type { ServerConfig } from "./config/load-servers-file.ts";

/** Masks the values of secrets. */
export interface Masker {
  /** A text without the values, each replaced by `[redacted]`. */
  text(text: string): string;
  /** The same for all texts and keys of a JSON value, and for numbers that are a secret. */
  json(value: JsonValue): JsonValue;
  /** The same for the output or error of a call, and for the text form of the output. */
  outcome(outcome: Outcome): Outcome;
}

/** Masks values of at least 6 characters; values below 8 characters only where they are whole words. */
export function createMasker(values: Iterable<string>): Masker {
  const all = new Set([...values].filter((value) => value.length >= MIN_SECRET_LENGTH));
  const scanner = createSecretScanner([...new Set([...all].flatMap(formsOf))]);

  /** The masked texts; undefined when they contain no secret. */
  function masked(texts: readonly string[]): string[] | undefined {
    const compacted = texts.map(compact);
    const found = scanner.find(compacted.join(""));
    if (found.length === 0) return undefined;
    const ranges = merged(found);
    let end = 0;
    let first = 0;
    let isChanged = false;
    const clean = texts.map((text, index) => {
      const start = end;
      end += compacted[index]?.length ?? 0;
      while (first < ranges.length && (ranges[first]?.to ?? 0) <= start) first += 1;
      const ownRanges: Found[] = [];
      for (let next = first; next < ranges.length; next += 1) {
        const range = ranges[next];
        if (!range || range.from >= end) break;
        const from = Math.max(start, range.from);
        const to = Math.min(end, range.to);
        const isAcross = range.from < start || range.to > end;
        if (isAcross && (range.isWord || (range.isPiece && to - from < MIN_SECRET_LENGTH))) continue;
        ownRanges.push({ ...range, from: from - start, to: to - start });
      }
      const shown = ownRanges.length === 0 ? text : withoutRanges(text, ownRanges);
      if (shown !== text) isChanged = true;
      return shown;
    });
    return isChanged ? clean : undefined;
  }

  function json(value: JsonValue): JsonValue {
    const texts: string[] = [];
    const keys: string[] = [];
    const hasNumber = collect(value, { texts, keys }, all);
    const clean = masked([...texts, ...keys]);
    if (!clean)
      return hasNumber
        ? rebuilt(
            value,
            (text) => text,
            (key) => key,
            all,
          )
        : value;
    let nextText = 0;
    let nextKey = texts.length;
    return rebuilt(
      value,
      (text) => clean[nextText++] ?? text,
      (key) => clean[nextKey++] ?? key,
      all,
    );
  }

  const text = (given: string): string => masked([given])?.[0] ?? given;

  function outcome(given: Outcome): Outcome {
    if (given.type === "completed") {
      // A large output was masked where it was read.
      const output = given.output instanceof JsonText ? given.output : json(given.output);
      const written = writtenAs(given.text, output !== given.output, text);
      const warnings = given.warnings?.map(text);
      if (output === given.output && written === given.text && !warnings) return given;
      return { ...given, output, text: written, ...(warnings && { warnings }) };
    }
    if (given.type !== "failed") return given;
    const { message, data } = given.error;
    const shown = data === undefined ? {} : { data: json(data) };
    return { ...given, error: { ...given.error, message: text(message), ...shown } };
  }

  if (all.size === 0) return { text: (given) => given, json: (value) => value, outcome: (given) => given };
  return { text, json, outcome };
}

/**
 * Decides the text form. If the value was masked, or its text contains more secrets than the value, the text
 * is made from the masked value (0).
 */
function writtenAs(
  written: OutputText | undefined,
  isMasked: boolean,
  text: (text: string) => string,
): OutputText | undefined {
  if (typeof written !== "string") return written;
  return isMasked || text(written) !== written ? 0 : written;
}

/** Collects texts and keys in their order. @returns whether a number is a secret */
function collect(
  value: JsonValue,
  into: { texts: string[]; keys: string[] },
  secrets: ReadonlySet<string>,
): boolean {
  if (isJsonNumber(value)) return secrets.has(digitsOf(value));
  if (typeof value === "string") into.texts.push(value);
  let hasNumber = false;
  if (Array.isArray(value)) for (const inner of value) hasNumber = collect(inner, into, secrets) || hasNumber;
  else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      into.keys.push(key);
      hasNumber = collect(inner, into, secrets) || hasNumber;
    }
  }
  return hasNumber;
}

/** The value with other texts and keys, requested in the order of {@link collect}. */
function rebuilt(
  value: JsonValue,
  nextText: (text: string) => string,
  nextKey: (key: string) => string,
  secrets: ReadonlySet<string>,
): JsonValue {
  const inner = (each: JsonValue): JsonValue => rebuilt(each, nextText, nextKey, secrets);
  if (isJsonNumber(value)) return secrets.has(digitsOf(value)) ? REDACTED : value;
  if (typeof value === "string") return nextText(value);
  if (Array.isArray(value)) return value.map(inner);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, JsonValue] => [
    nextKey(key),
    inner(each),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

/** Sorted, with adjacent ranges merged. */
function merged(found: readonly Found[]): Found[] {
  const ranges: Found[] = [];
  for (const range of found.toSorted((one, other) => one.from - other.from)) {
    const last = ranges.at(-1);
    if (!last || range.from > last.to) ranges.push({ ...range });
    else {
      last.isWord &&= range.isWord;
      last.isPiece &&= range.isPiece;
      last.to = Math.max(last.to, range.to);
    }
  }
  return ranges;
}

const WORD = /[\p{L}\p{N}]/u;

/** @param ranges - positions in the text without its white space */
function withoutRanges(text: string, ranges: readonly Found[]): string {
  const positions = /\s/.test(text) ? positionsOf(text) : undefined;
  let clean = "";
  let end = 0;
  for (const { from, to, isWord } of ranges) {
    const start = positions ? (positions[from] ?? 0) : from;
    const stop = (positions ? (positions[to - 1] ?? 0) : to - 1) + 1;
    if (isWord && (WORD.test(text[start - 1] ?? "") || WORD.test(text[stop] ?? ""))) continue;
    clean += text.slice(end, start) + REDACTED;
    end = stop;
  }
  return clean + text.slice(end);
}

/** The position of each character that is not white space. */
function positionsOf(text: string): number[] {
  const positions: number[] = [];
  for (let position = 0; position < text.length; position += 1)
    if (!/\s/.test(text[position] ?? "")) positions.push(position);
  return positions;
}

/*
 * Finds many forms of secrets in one pass over a text, in time linear in its length and independent of their
 * number.
 *
 * It looks at every fourth position of the text. Usually the three characters there are part of no form,
 * which a table shows at once; otherwise they are compared with the form. A form has at least six characters,
 * so one such position is within its first six characters and one within its last six.
 */

/** The range of a match: from `from` up to, but excluding, `to`. */
interface Found {
  from: number;
  to: number;
  /** It counts only as a separate word. */
  isWord: boolean;
  /**
   * It is a part of a form. If it extends into the next text by only a few characters, these match by chance.
   */
  isPiece: boolean;
}

/** Searches for forms of secrets. */
interface SecretScanner {
  /**
   * Finds complete forms, and pieces of them where a text was cut or split: at least the first or last half
   * of a form, or eight characters next to an ellipsis. In a text that has a piece, six characters are
   * enough.
   */
  find(text: string): Found[];
}

const STEP = 4;
const TRIPLE = 3;
const BUCKETS = 65_536;

/** @param forms - without white space, of at least six characters each */
function createSecretScanner(forms: readonly string[]): SecretScanner {
  /** Shows for most triples at once that they are part of no form. */
  const isKnown = new Uint8Array(BUCKETS);
  const offsetsByTriple = new Map<string, { form: string; offset: number }[]>();
  for (const form of forms) {
    const last = form.length - MIN_SECRET_LENGTH;
    for (const offset of new Set([0, 1, 2, 3, last, last + 1, last + 2, last + 3])) {
      isKnown[bucketOf(form, offset)] = 1;
      const triple = form.slice(offset, offset + TRIPLE);
      const known = offsetsByTriple.get(triple);
      if (known) known.push({ form, offset });
      else offsetsByTriple.set(triple, [{ form, offset }]);
    }
  }

  function find(all: string, hasPieces: boolean): Found[] {
    const found: Found[] = [];
    let isPiece = false;
    for (let at = 0; at + TRIPLE <= all.length; at += STEP) {
      if (isKnown[bucketOf(all, at)] === 0) continue;
      for (const place of offsetsByTriple.get(all.slice(at, at + TRIPLE)) ?? []) {
        const run = runOf(all, at, place);
        if (!run) continue;
        const { form } = place;
        const isWord = form.length < MIN_FORM_LENGTH;
        const isComplete = run.to - run.from === form.length;
        if (!isComplete && (isWord || !(hasPieces || isPieceOf(form, run, all)))) continue;
        if (!isComplete) isPiece = true;
        found.push({ from: run.from, to: run.to, isWord, isPiece: !isComplete });
      }
    }
    return isPiece && !hasPieces ? find(all, true) : found;
  }

  return { find: (text) => find(text, false) };
}

function bucketOf(text: string, at: number): number {
  const triple = (text.charCodeAt(at) << 16) ^ (text.charCodeAt(at + 1) << 8) ^ text.charCodeAt(at + 2);
  return Math.imul(triple, 0x9e_37_79_b1) >>> 16;
}

interface Run {
  from: number;
  to: number;
  /** True when it begins the form; otherwise it ends it. */
  isHead: boolean;
}

/** The common part of text and form around a position, when it begins or ends the form. */
function runOf(all: string, at: number, { form, offset }: { form: string; offset: number }): Run | undefined {
  const isSame = (step: number): boolean => all.charCodeAt(at + step) === form.charCodeAt(offset + step);
  let before = 0;
  while (before < offset && isSame(-before - 1)) before += 1;
  let length = TRIPLE;
  while (offset + length < form.length && isSame(length)) length += 1;
  if (before + length < MIN_SECRET_LENGTH) return undefined;
  const isHead = before === offset;
  if (!isHead && offset + length < form.length) return undefined;
  return { from: at - before, to: at + length, isHead };
}

/** True for a beginning or end of a form that is long enough to count. */
function isPieceOf(form: string, { from, to, isHead }: Run, all: string): boolean {
  const length = to - from;
  if (length < MIN_FORM_LENGTH) return false;
  if (length * 2 >= form.length) return true;
  if (isHead) return all.startsWith("...", to) || all[to] === "…";
  return all.slice(Math.max(0, from - 3), from) === "..." || all[from - 1] === "…";
}

/** Shorter values are not masked: they are part of too many texts that are not secret. */
const MIN_SECRET_LENGTH = 6;
/** Values below this length are only found as whole words, and in no other form. */
const MIN_FORM_LENGTH = 8;

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * The forms in which a value may be repeated: unchanged; in JSON (also encoded twice, with escaped slashes,
 * in ASCII only, fully escaped, and fully escaped twice); in addresses and forms; in HTML; in hexadecimal; in
 * both alphabets of base64 at each of three alignments. White space is removed, because line breaks in base64
 * would add some.
 */
function formsOf(value: string): string[] {
  const short = compact(value);
  if (short.length < MIN_SECRET_LENGTH) return [];
  if (short.length < MIN_FORM_LENGTH) return [short];
  const bytes = Buffer.from(value, "utf8");
  const inJson = JSON.stringify(value).slice(1, -1);
  // A lone surrogate cannot be encoded like this; in UTF-8 it is a replacement character.
  const inAddress = encodeURIComponent(bytes.toString("utf8"));
  const hex = bytes.toString("hex");
  const forms = [
    value,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inJson.replaceAll("/", String.raw`\/`),
    inJson.replace(/[^ -~]/g, escaped),
    ...[escaped, escapedInCapitals].flatMap((escape) => {
      const escapedValue = value.replace(/[^]/g, escape);
      return [escapedValue, escapedValue.replaceAll("\\", String.raw`\\`)];
    }),
    inAddress,
    inAddress.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inAddress.replaceAll("%20", "+"),
    value.replace(/[&<>"']/g, (sign) => HTML[sign] ?? sign),
    hex,
    hex.toUpperCase(),
    ...base64Of(bytes),
  ];
  return [...new Set(forms.map(compact))].filter((form) => form.length >= MIN_FORM_LENGTH);
}

/** A text without white space. */
function compact(text: string): string {
  return text.replace(/\s+/g, "");
}

function escaped(unit: string): string {
  return String.raw`\u${codeOf(unit)}`;
}

function escapedInCapitals(unit: string): string {
  return String.raw`\u${codeOf(unit).toUpperCase()}`;
}

function codeOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}

/** The base64 digits that these bytes alone determine, for each alignment. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const digits = shifted.toString("base64").slice(from, Math.floor((shifted.length * 8) / 6));
    return [digits, digits.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/**
 * Most values that plans sent to one server and that are remembered, in addition to those of its configuration: the
 * last ones.
 */
const MAX_REMEMBERED = 1_000;
/**
 * Most tokens that are remembered for one server: of about five renewals, after which an earlier token has ended. Some
 * are renewed every few minutes and have a thousand characters: to look for all of a day would take seconds at each
 * renewal.
 */
const MAX_TOKENS = 16;

/** Headers with public values: they identify a client or an environment and grant no access. */
const PUBLIC_HEADER =
  /^(?:accept|accept-.*|content-.*|user-agent|host|origin|referer|cache-control|prefer|traceparent|tracestate|mcp-.*|.*(?:tenant|region|version|locale|language|timezone|organi[sz]ation|workspace|project|environment))$/i;
/** Texts without a space or slash that mix letters and digits: keys look like this, and words do not. */
const LOOKS_LIKE_A_KEY = /^(?=.*\d)(?=.*[A-Za-z])[^\s/]{16,}$/;
const SCHEME = /^(?:Bearer|Basic|Token|ApiKey|Digest) +/i;
/** `user:password@` in an address. */
const PASSWORD = /:\/\/[^\s/@:]{0,256}:([^\s/@]{1,512})@/;
/** `--api-key=…`, `-token=…` */
const FLAG = /^-{1,2}([\w.-]{1,100})(?:=(.*))?$/s;

/** The secrets of one server. Only this module decides what they are. */
interface ServerSecrets {
  /** Masks all of them in what the server sends. */
  readonly masker: Masker;
  /** All of them. */
  values(): readonly string[];
  /** Remembers values that plans will send to the server. @returns false when all of them were known */
  add(values: Iterable<string>): boolean;
  /** Remembers what a sign-in at the server has now: its tokens, and the secret of this client. As `add`. */
  addTokens(values: Iterable<string>): boolean;
}

/** The secrets of one server: those that the servers file gives it, and those that are added. */
export function createServerSecrets(config: ServerConfig): ServerSecrets {
  const given = secretsGiven(config);
  const sent = new Set<string>();
  const tokens = new Set<string>();
  const values = () => [...given, ...tokens, ...sent];
  let masker = createMasker(given);

  function remember(known: Set<string>, max: number, added: Iterable<string>): boolean {
    let isNew = false;
    for (const value of added) {
      // The one that was sent last is behind all others.
      if (!known.delete(value)) isNew = true;
      known.add(value);
    }
    if (!isNew) return false;
    for (const oldest of known) if (known.size > max) known.delete(oldest);
    masker = createMasker(values());
    return true;
  }

  return {
    get masker() {
      return masker;
    },
    values,
    add: (added) => remember(sent, MAX_REMEMBERED, added),
    addTokens: (added) => remember(tokens, MAX_TOKENS, added),
  };
}

/**
 * The secret values in the configuration of a server: every header that is not public; variables and command
 * line options with a secret name or a value that looks like a key; passwords in addresses, and address
 * parameters with such a name or value.
 */
function secretsGiven(config: ServerConfig): string[] {
  if (config.type === "stdio") {
    const variables = Object.entries(config.env).flatMap(([name, value]) => secretsIn(name, value));
    return [...variables, ...secretsInOptions(config.args)];
  }
  const headers = Object.entries(config.headers).filter(([name]) => !PUBLIC_HEADER.test(name));
  return [...headers.flatMap(([, value]) => secretsOfHeader(value)), ...secretsInAddress(config.url)];
}

function secretsIn(name: string, value: string): string[] {
  if (isSecretKey(name) || LOOKS_LIKE_A_KEY.test(value)) return [value, ...secretsInAddress(value)];
  return secretsInAddress(value);
}

/** `Bearer x` gives x; `Basic` of a name and a password gives the password as well. */
function secretsOfHeader(value: string): string[] {
  const bare = value.replace(SCHEME, "").trim();
  if (!/^Basic /i.test(value)) return [bare];
  const decoded = Buffer.from(bare, "base64").toString("utf8");
  return [bare, decoded, decoded.slice(decoded.indexOf(":") + 1)];
}

function secretsInOptions(args: readonly string[]): string[] {
  return args.flatMap((option, index) => {
    const [, name = "", value] = FLAG.exec(option) ?? [];
    if (value !== undefined) return secretsIn(name, value);
    const next = args[index + 1];
    return isSecretKey(name) && next !== undefined ? [next] : secretsIn("", option);
  });
}

function secretsInAddress(address: string): string[] {
  const password = PASSWORD.exec(address)?.[1];
  const query = new URLSearchParams(address.split("?")[1]?.split("#")[0] ?? "");
  const named = [...query].flatMap(([name, value]) =>
    isSecretKey(name) || LOOKS_LIKE_A_KEY.test(value) ? [value] : [],
  );
  return password === undefined ? named : [password, decoded(password), ...named];
}

/** The text before it was encoded for an address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not encoded for an address
  }
}
