import {
  CREDENTIAL_FORMS,
  countText,
  depthOf,
  isExactNumber,
  isSecretKey,
  type JsonValue,
  markNumbers,
  SECRET_NAME as NAME,
  REDACTED,
  unmarkNumbers,
  wholeCharacters,
} from "@planwright/plan";

/** How deep {@link redact} looks. */
export interface RedactOptions {
  /** Levels that are kept, including those of JSON inside texts; deeper levels are cut off. Default 10. */
  maxDepth?: number;
  /** Longest text that is kept, in UTF-16 units; of a longer one the beginning. Default: no limit. */
  maxText?: number;
}

const MAX_DEPTH = 10;
/** Longest text that is parsed as JSON, in UTF-16 units; longer texts are treated as prose. */
const MAX_JSON_TEXT = 4_194_304;
/** The same where texts are cut: the parsing of one text cannot be interrupted. */
const MAX_CUT_JSON_TEXT = 524_288;
/** What is read beyond the end of a text that is cut: a secret that is itself cut would not be recognised. */
const BEYOND_CUT = 8_192;
/** Work between two steps, in UTF-16 units of texts and names; each value counts as {@link VALUE_WORK}. */
const STEP_WORK = 8_192;
const VALUE_WORK = 8;
/** Most names of fields whose kind is remembered. */
const MAX_KNOWN_NAMES = 10_000;
const TOO_DEEP = "[too deep]";
/** In these objects the keys are names of arguments, and the values are schemas, not argument values. */
const NAMES_OF_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const SCHEMA_WORDS = ["type", "$ref", "anyOf", "oneOf", "allOf", "description"];
/** Keywords of a schema that contain values. */
const SCHEMA_VALUES = new Set(["default", "const", "enum", "examples", "example"]);

/**
 * A copy without secrets: by the name of the key at any depth, by the form of the text, and inside texts that
 * are JSON. Names of secrets stay (`secret://crm-key`, `<<login.token>>`), and so does the schema of an
 * argument with a secret name. Objects with a class of their own (dates, errors) are kept as they are.
 */
export function redact(value: unknown, options: RedactOptions = {}): unknown {
  const steps = redactInSteps(value, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * The same as steps of a few milliseconds each, between which the caller may do other work. Only a single text
 * is never divided.
 */
export function redactInSteps(value: unknown, options: RedactOptions = {}): Generator<void, unknown> {
  const { maxDepth = MAX_DEPTH, maxText = Number.POSITIVE_INFINITY } = options;
  return redacted(value, { levels: maxDepth, isNames: false, maxText, work: { left: STEP_WORK } });
}

/** The same for JSON, which stays JSON. */
export function redactJson(value: JsonValue, options?: RedactOptions): JsonValue {
  // Values are only replaced by texts, so the result is JSON again.
  return redact(value, options) as JsonValue;
}

/** Where a value stands. */
interface Place {
  levels: number;
  /** The keys are names of arguments, with a schema each. */
  isNames: boolean;
  maxText: number;
  /** Shared by all places of one call. */
  work: { left: number };
}

function* redacted(value: unknown, place: Place): Generator<void, unknown> {
  const simple = redactedLeaf(value, place);
  if (simple !== NESTED) return simple;
  if (typeof value === "string") return yield* redactedJsonText(value, place);
  if (place.levels <= 0) return TOO_DEEP;
  const inside = { ...place, levels: place.levels - 1, isNames: false };
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (isStepOver(VALUE_WORK, place)) yield;
      const leaf = redactedLeaf(item, inside);
      items.push(leaf === NESTED ? yield* redacted(item, inside) : leaf);
    }
    return items;
  }
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(Object(value))) {
    if (isStepOver(VALUE_WORK + key.length, place)) yield;
    if (!isSecretField(key)) {
      const leaf = redactedLeaf(inner, inside);
      const isNames = NAMES_OF_SCHEMAS.has(key);
      entries.push([key, leaf === NESTED ? yield* redacted(inner, { ...inside, isNames }) : leaf]);
    } else if (place.isNames && isSchema(inner)) {
      entries.push([key, yield* redacted(withoutValues(inner), inside)]);
    } else entries.push([key, censored(inner)]);
  }
  return Object.fromEntries(entries);
}

const NESTED = Symbol("a value with values inside");

/** The copy of a value without values inside; otherwise {@link NESTED}. */
function redactedLeaf(value: unknown, place: Place): unknown {
  if (typeof value === "string") {
    if (isExactNumber(value)) return value;
    const maxJson = Number.isFinite(place.maxText) ? MAX_CUT_JSON_TEXT : MAX_JSON_TEXT;
    return value.length <= maxJson && /^\s*[[{"]/.test(value) ? NESTED : redactedProse(value, place);
  }
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) || isPlain(value) ? NESTED : value;
}

/** True when enough work was done in this step. */
function isStepOver(units: number, { work }: Place): boolean {
  work.left -= units;
  if (work.left > 0) return false;
  work.left = STEP_WORK;
  return true;
}

const knownNames = new Map<string, boolean>();

/** {@link isSecretKey}, remembered: records repeat few names very often. */
function isSecretField(key: string): boolean {
  let isSecret = knownNames.get(key);
  if (isSecret === undefined) {
    isSecret = isSecretKey(key);
    if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear();
    if (key.length <= 64) knownNames.set(key, isSecret);
  }
  return isSecret;
}

/** Replaces the value of a secret; a value that contains no secret is kept. */
function censored(value: unknown): unknown {
  if (value === undefined || value === null || (typeof value === "string" && isSecretName(value)))
    return value;
  return REDACTED;
}

function redactedProse(text: string, place: Place): string {
  const read = text.slice(0, place.maxText + BEYOND_CUT);
  place.work.left -= read.length;
  return cutText(redactText(read), text.length, place);
}

/** The text of JSON is kept unless it contains a secret. */
function* redactedJsonText(text: string, place: Place): Generator<void, string> {
  if (isStepOver(text.length, place)) yield;
  let parsed: unknown;
  try {
    parsed = JSON.parse(markNumbers(text));
  } catch {
    return redactedProse(text, place); // prose that begins like JSON
  }
  // What is cut off below may be too deep to be written.
  const before = depthOf(parsed, place.levels) > place.levels ? undefined : JSON.stringify(parsed);
  yield;
  const inside = { ...place, isNames: false, maxText: Number.POSITIVE_INFINITY };
  const after = JSON.stringify(yield* redacted(parsed, inside));
  return before === after ? redactedProse(text, place) : cutText(unmarkNumbers(after), text.length, place);
}

function cutText(clean: string, length: number, { maxText }: Place): string {
  if (clean.length <= maxText) return clean;
  const beginning = wholeCharacters(clean, maxText);
  const more = Math.max(clean.length, length) - beginning.length;
  return `${beginning}… (${countText(more, "more character")})`;
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isSchema(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    isPlain(value) &&
    SCHEMA_WORDS.some((word) => Object.hasOwn(value, word))
  );
}

function withoutValues(schema: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(schema).map(([word, value]) => [
    word,
    SCHEMA_VALUES.has(word) ? REDACTED : value,
  ]);
  return Object.fromEntries(entries);
}

/** Names of secrets, and references to outputs of other steps; neither is a secret itself. */
const NO_SECRET =
  /^(?:secret:\/\/[\w./-]{1,256}|<<[^<>]{1,512}>>|\{\{[^{}]{1,512}\}\}|\$ref:[\w.[\]*-]{1,512})$/;

/** `user:password@`, or `token@`, inside an address. */
const URL_CREDENTIALS = /:\/\/(?:[^\s/@:]{0,256}:[^\s/@]{1,512}|[^\s/@:?#"'<>]{1,256})@/g;
/** `Bearer …`, `Basic …`. */
const SCHEME = /\b(Bearer|Basic) +(?!\[redacted\])[\w.~+/=-]{8,}/gi;
/** `"password": "…"` inside prose, as in a prompt. */
const JSON_FIELD = new RegExp(`("[\\w.-]{0,64}${NAME}"\\s{0,64}:\\s{0,64})"((?:[^"\\\\]|\\\\.)*)"?`, "gi");
/** The same in JSON that is a string inside JSON: `\"password\":\"…\"`. */
const ESCAPED_FIELD = new RegExp(
  `(\\\\"[\\w.-]{0,64}${NAME}\\\\"\\s{0,64}:\\s{0,64})\\\\"([^"]*?)(?:\\\\"|"|$)`,
  "gi",
);
/** `api_key=…` in addresses, settings and command lines. */
const PAIR = new RegExp(
  `((?<![\\w.-])[\\w.-]{0,64}${NAME}=)(?!\\[redacted\\])([^\\s&;,"'\\\\]{1,4096})`,
  "gi",
);

/**
 * True for a text that names a secret, or refers to another step's output, and contains none:
 * `secret://crm-key`.
 */
export function isSecretName(text: string): boolean {
  return NO_SECRET.test(text);
}

/**
 * A text without credentials in addresses, bearer tokens, well-known forms of keys, and the values of fields
 * with secret names. Names such as `secret://crm-key` stay. Takes time linear in the length.
 */
export function redactText(text: string): string {
  let clean = text
    .replace(URL_CREDENTIALS, `://${REDACTED}@`)
    .replace(SCHEME, (_, scheme: string) => `${scheme} ${REDACTED}`);
  for (const form of CREDENTIAL_FORMS) clean = clean.replace(form, REDACTED);
  return clean
    .replace(ESCAPED_FIELD, (whole, name: string, value: string) =>
      isSecretName(value) ? whole : `${name}\\"${REDACTED}\\"`,
    )
    .replace(JSON_FIELD, (whole, name: string, value: string) =>
      isSecretName(value) ? whole : `${name}"${REDACTED}"`,
    )
    .replace(PAIR, (whole, name: string, value: string) =>
      isSecretName(value) ? whole : `${name}${REDACTED}`,
    );
}
