import {
  type AskedParameter,
  digitsOf,
  exactNumberOf,
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonTypesOf,
  type OpenQuestion,
  type PlanningContext,
  parseJson,
  stringifyExactJson,
} from "@planwright/plan";
import { checkAgainstSchema, cut, isPlaceholder, toArgumentProblem } from "@planwright/plan/internal";
import { datesSaidIn } from "../moment/date-values.ts";
import { findMoments } from "../moment/find-moments.ts";

/** The value of an answer, or the reason why it is invalid: for the user, with the required form. */
export type ReadAnswer = { ok: true; value: JsonValue } | { ok: false; message: string };

/** Maximum length of an answer, in characters. */
export const MAX_ANSWER_LENGTH = 20_000;

/** Context for reading an answer in words. */
interface AnswerContext {
  /** Defines "tomorrow" when the argument is a date; without it, only full dates are read. */
  readonly context?: Pick<PlanningContext, "now" | "timezone"> | undefined;
}

/**
 * Reads an answer in words as the value of the argument: literally, without quotes, without a label ("email:
 * .."), or, when only one part of the text has the form that the schema requires, as that part ("it is
 * alice@test.com"). Pure.
 */
export function readAnswer(about: AskedParameter, text: string, options: AnswerContext = {}): ReadAnswer {
  const trimmed = text.trim();
  if (trimmed === "" || isLabel(trimmed, labelsOf(about.keys)))
    return unfit(about, "an empty text is no answer");
  if (trimmed.length > MAX_ANSWER_LENGTH)
    return unfit(about, `it is longer than ${MAX_ANSWER_LENGTH} characters`);
  let problem: string | null = null;
  for (const value of valuesIn(trimmed, {
    schema: about.schema ?? {},
    labels: labelsOf(about.keys),
    ...options,
  })) {
    const read = checkAnswer(about, value);
    if (read.ok) return read;
    problem ??= read.message;
  }
  return problem === null
    ? unfit(about, `${quoted(withoutLabel(trimmed, labelsOf(about.keys)))} is not valid`)
    : { ok: false, message: problem };
}

/** Checks a JSON value as the answer for an argument. Pure. */
export function checkAnswer(about: AskedParameter, value: JsonValue): ReadAnswer {
  if (typeof value === "string") {
    if (value.trim() === "") return unfit(about, "an empty text is no answer");
    if (isPlaceholder(value) && !allows(about.schema, value))
      return unfit(about, `${quoted(value)} is a placeholder, not a value`);
  }
  const holder = { value };
  const verdict = checkAgainstSchema(holderOf(about.schema ?? {}), holder);
  // An unusable schema checks nothing; the tool itself decides.
  if (!verdict.usable) return { ok: true, value };
  const [error] = verdict.errors;
  if (!error) return { ok: true, value };
  const { message } = toArgumentProblem(error, holder, () => undefined);
  return unfit(
    about,
    message.replace(/^argument value(?=([.[]?))/, (_, inner) =>
      inner === "" ? shownValue(value) : "its part ",
    ),
  );
}

/**
 * The schema of an object that contains only the value. Definitions move to the root, because references
 * point there.
 */
function holderOf(schema: JsonObject): JsonObject {
  const { $defs, definitions, ...valueSchema } = schema;
  return {
    type: "object",
    properties: { value: valueSchema },
    required: ["value"],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function allows(schema: JsonObject | null, value: string): boolean {
  const values = schema?.["enum"];
  return schema?.["const"] === value || (Array.isArray(values) && values.includes(value));
}

const quoted = (text: string) => JSON.stringify(cut(text, 80));
const shownValue = (value: JsonValue) => quoted(textOf(value));

function unfit({ keys, schema }: AskedParameter, why: string): ReadAnswer {
  return { ok: false, message: `${String(keys.at(-1))} takes ${formOf(schema)}: ${why}` };
}

const FORMS: Readonly<Record<string, string>> = {
  email: "an e-mail address",
  uri: "a web address",
  url: "a web address",
  date: "a date (YYYY-MM-DD)",
  "date-time": "a date and time with its time zone (2026-01-31T09:00:00Z)",
  time: "a time (09:00:00Z)",
  uuid: "a UUID",
};
const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "a JSON object",
  null: "null",
};
/** Maximum number of choices in a message; of further ones it says the number. */
const MAX_CHOICES = 10;

/** The form that a schema requires, in words: "an e-mail address", "one of low, high". */
export function formOf(schema: JsonObject | null): string {
  if (schema === null) return "a value";
  const { enum: choices, const: only, format } = schema;
  if (only !== undefined) return stringifyExactJson(only);
  if (Array.isArray(choices)) {
    const more = choices.length - MAX_CHOICES;
    return `one of ${choices.slice(0, MAX_CHOICES).map(textOf).join(", ")}${more > 0 ? ` or ${more} more` : ""}`;
  }
  if (typeof format === "string" && Object.hasOwn(FORMS, format)) return FORMS[format] ?? "a text";
  const types = (jsonTypesOf(schema["type"]) ?? []).filter((type) => type !== "null");
  if (types.length === 0) return "a value";
  return `${types.map((type) => wordOf(type, schema)).join(" or ")}${limitsOf(schema)}`;
}

function wordOf(type: string, { items }: JsonObject): string {
  const word = TYPES[type] ?? type;
  const each = type === "array" && isJsonObject(items) ? formOf(items) : "a value";
  return each === "a value" ? word : `${word}, each ${each}`;
}

const textOf = (value: JsonValue) =>
  typeof value === "string" && !isExactNumber(value) ? value : stringifyExactJson(value);

const LIMITS: readonly (readonly [string, (limit: string) => string])[] = [
  ["minimum", (limit) => `from ${limit}`],
  ["exclusiveMinimum", (limit) => `above ${limit}`],
  ["maximum", (limit) => `up to ${limit}`],
  ["exclusiveMaximum", (limit) => `below ${limit}`],
  ["minLength", (limit) => `of at least ${limit} characters`],
  ["maxLength", (limit) => `of at most ${limit} characters`],
  ["pattern", (limit) => `that matches ${cut(limit, 60)}`],
];

function limitsOf(schema: JsonObject): string {
  const limits = LIMITS.flatMap(([name, say]) => {
    const limit = isJsonObject(schema) ? schema[name] : undefined;
    return limit === undefined || typeof limit === "object" ? [] : [say(textOf(limit))];
  });
  return limits.length === 0 ? "" : ` ${limits.join(" ")}`;
}

/** Context for finding values. */
interface ValueSearch {
  readonly schema: JsonObject;
  readonly labels: readonly string[];
  readonly context?: Pick<PlanningContext, "now" | "timezone"> | undefined;
}

/**
 * The possible values of an answer, the most literal first: its text, or the text converted to the types of
 * the schema; then the same for the text after its label or inside its quotes; then the only part of it with
 * the form that the schema requires. The values are not validated.
 */
function* valuesIn(answer: string, search: ValueSearch): Generator<JsonValue> {
  const bare = unquoted(answer);
  const afterLabel = unquoted(withoutLabel(answer, search.labels));
  // A completely quoted answer is meant literally.
  const texts = new Set(bare === answer ? [afterLabel, answer] : [bare]);
  for (const text of texts) yield* valuesOf(text, search.schema);
  yield* partsOf(afterLabel, search);
}

/** The text inside one pair of quotes around the complete text. */
function unquoted(text: string): string {
  const inner = /^(?:"([^"]+)"|'([^']+)'|“([^”]+)”|`([^`]+)`)$/s.exec(text);
  return inner?.[1] ?? inner?.[2] ?? inner?.[3] ?? inner?.[4] ?? text;
}

function* valuesOf(text: string, schema: JsonObject): Generator<JsonValue> {
  const chosen = choiceIn(schema, (choice) => plainChoice(choice) === plainChoice(text));
  if (chosen !== undefined) yield chosen;
  const types = jsonTypesOf(schema["type"]);
  if (types === undefined) {
    yield text;
    return;
  }
  if (types.includes("boolean")) {
    const value = BOOLEANS.get(text.toLowerCase().replace(/[.!]$/, ""));
    if (value !== undefined) yield value;
  }
  if (types.includes("integer") || types.includes("number")) {
    const value = numberOf(text);
    if (value !== undefined) yield value;
  }
  if (types.includes("array")) yield* listsOf(text, schema);
  if (types.includes("object")) {
    const value = jsonOf(text);
    if (isJsonObject(value)) yield value;
  }
  if (types.includes("string")) yield text;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
  ["yes", true],
  ["no", false],
  ["on", true],
  ["off", false],
]);

function numberOf(text: string): JsonValue | undefined {
  // "1,000" is ambiguous between countries, and "007" is a code.
  return /^[+-]?(?:0|[1-9]\d{0,99})(?:\.\d{1,100})?$/.test(text)
    ? exactNumberOf(text.replace("+", ""))
    : undefined;
}

/** "a, b", "a and b", "a, b, and c". What stands in quotes is one item. */
const QUOTED_OR_SEPARATOR = /"[^"]*"|“[^“”]*”|`[^`]*`|(?:[,;\n]\s*|\s)and\s|[,;\n]/g;
/** Maximum number of items of a list in one line. */
const MAX_ITEMS = 1_000;

function* listsOf(text: string, schema: JsonObject): Generator<JsonValue> {
  const written = jsonOf(text);
  if (Array.isArray(written)) {
    yield written;
    return;
  }
  const items = isJsonObject(schema["items"]) ? schema["items"] : {};
  const parts = itemsOf(text);
  if (parts.length > MAX_ITEMS) return;
  const values = parts.map((part) => valuesOf(unquoted(part), items).next().value);
  if (values.every((value) => value !== undefined)) yield values;
}

function itemsOf(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(QUOTED_OR_SEPARATOR)) {
    if (/^["“`]/.test(found)) continue;
    parts.push(text.slice(from, index));
    from = index + found.length;
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== "");
}

function jsonOf(text: string): JsonValue | undefined {
  const parsed = /^[[{]/.test(text) ? parseJson(text) : undefined;
  return parsed?.ok ? parsed.value : undefined;
}

function choiceIn(
  schema: JsonObject,
  isMatch: (choice: string | number | boolean) => boolean,
): JsonValue | undefined {
  const { enum: choices } = schema;
  if (!Array.isArray(choices)) return undefined;
  const matching = choices.filter(
    (choice) => choice !== null && typeof choice !== "object" && isMatch(choice),
  );
  return matching.length === 1 ? matching[0] : undefined;
}

const plainChoice = (choice: string | number | boolean) =>
  (isExactNumber(choice) ? digitsOf(choice) : String(choice))
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, " ");

/** Unambiguous forms of a part of a text. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  email: /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g,
  uri: /\bhttps?:\/\/[^\s<>"']{1,2000}[^\s<>"'.,;:!?)]/g,
  uuid: /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi,
};
/** Maximum length of answers in which a part is searched. */
const MAX_SENTENCE = 500;
/** Words that turn or change the meaning of the value beside them. */
const TURNING =
  /\b(?:no|not|never|neither|nor|none|cannot|without|except|excluding|but|instead of|other than|unless|minus|half|hundred|thousand|million|billion|dozen)\b|n['’]t\b/i;
/** A number that is no part of a word, a range ("3-5"), a date or a number with separators. */
const NUMBER_IN_TEXT =
  /(?<![\p{L}\d.,/:-]|\d\s{0,3}[-–]\s{0,3})-?\d{1,100}(?:\.\d{1,100})?(?![\p{L}\d]|[.,/:]\d|\s{0,3}[-–]\s{0,3}\d)/gu;

/**
 * The only part of a sentence with the form that the schema requires; none when there are two, or when the
 * words around it turn its meaning ("not high").
 */
function* partsOf(text: string, { schema, context }: ValueSearch): Generator<JsonValue> {
  if (text.length > MAX_SENTENCE) return;
  const { format } = schema;
  const types = jsonTypesOf(schema["type"]) ?? [];
  if (Array.isArray(schema["enum"])) {
    const words = ` ${plainChoice(text.replaceAll(/[.,;:!?"]/g, " "))} `;
    const placeOf = (choice: string | number | boolean): string => ` ${plainChoice(choice)} `;
    const chosen = choiceIn(
      schema,
      (choice) => words.includes(placeOf(choice)) && !TURNING.test(words.replace(placeOf(choice), " , ")),
    );
    if (chosen !== undefined) yield chosen;
  } else if (typeof format === "string" && format.startsWith("date")) yield* datesIn(text, format, context);
  else if (typeof format === "string")
    yield* only(text, text.match(PATTERNS[format === "url" ? "uri" : format] ?? /(?!)/g));
  else if (types.includes("integer") || types.includes("number"))
    yield* only(text, text.match(NUMBER_IN_TEXT)).map(exactNumberOf);
}

function only(text: string, found: readonly string[] | null): string[] {
  const [part, ...others] = new Set(found ?? []);
  return part === undefined || others.length > 0 || TURNING.test(text.replaceAll(part, ",")) ? [] : [part];
}

function* datesIn(text: string, format: string, now: ValueSearch["context"]): Generator<JsonValue> {
  const { moments, isOpen } = now ? findMoments(text, now) : { moments: [], isOpen: false };
  const [moment, second] = moments;
  const [reading, other] = moment?.readings ?? [];
  // Words that are no part of the moment may move it: "tomorrow at 9 or 10".
  const rest = moment ? `${text.slice(0, moment.start)},${text.slice(moment.end)}` : "";
  if (isOpen || TURNING.test(rest) || /\d|\b(?:or|quarter)\b/i.test(rest)) return;
  if (reading && !other && !second && moment?.alsoReadings.length === 0) {
    if (reading.type === "day" && format === "date") yield reading.date;
    if (reading.type === "instant" && format === "date-time") yield reading.at;
    return;
  }
  if (format === "date" && moments.length === 0) yield* only(text, [...datesSaidIn(text)]);
}

/** Labels are searched only in this number of characters at the beginning of an answer. */
const MAX_LABEL = 80;

/**
 * The names that an answer may put before its value: the argument's, also together with the enclosing field
 * ("author email" for `author.email`).
 */
function labelsOf(keys: readonly (string | number)[]): string[] {
  const names = keys.filter((key) => typeof key === "string");
  const own = names.at(-1);
  return own === undefined ? [] : [...new Set([own, names.join(" "), names.join(".")].map(plain))];
}

/** The normal form of a name: "authorId", "author_id" and "Author ID" are equal. */
function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
}

/**
 * The label at the beginning of an answer, in normal form, and the text after it; null without a label.
 * "email: x", "email = x".
 */
function labelIn(text: string): { label: string; rest: string } | null {
  const found = /^([\p{L}][\p{L}\p{N} _.-]*?)\s*[:=]\s*(?=\S)/u.exec(text.slice(0, MAX_LABEL));
  if (!found?.[1] || text.startsWith("//", found[0].length)) return null;
  return { label: plain(found[1]), rest: text.slice(found[0].length).trim() };
}

/** True for a label without a value: "email:". */
function isLabel(text: string, labels: readonly string[]): boolean {
  return /[:=]$/.test(text) && labels.includes(plain(text.slice(0, MAX_LABEL)));
}

/** The text after a label that is one of these names; otherwise the complete text. */
function withoutLabel(text: string, labels: readonly string[]): string {
  const found = labelIn(text);
  return found && labels.includes(found.label) ? found.rest : text;
}

/** An answer with the question that it belongs to. */
export interface BoundAnswer {
  readonly question: OpenQuestion;
  /** The given text, or the JSON text of a value. */
  readonly text: string;
  /** The value; undefined for an answer that only the model can read. */
  readonly value: JsonValue | undefined;
}

/** A refused answer; its question stays open. */
export interface UnfitAnswer {
  readonly question: OpenQuestion;
  readonly text: string;
  /** Why, and what would be accepted. */
  readonly message: string;
}

/** Answers, bound to their questions or refused. */
export interface BoundAnswers {
  readonly bound: readonly BoundAnswer[];
  readonly unfit: readonly UnfitAnswer[];
}

/**
 * Binds answers in words to the open questions, one for each, in their order. When all answers begin with
 * labels, the labels decide instead of the order. Pure.
 * @param texts - one for each question
 */
export function bindTexts(
  questions: readonly OpenQuestion[],
  texts: readonly string[],
  context: AnswerContext = {},
): BoundAnswers {
  const ordered = byLabel(questions, texts) ?? texts;
  return gather(
    questions.map((question, index) => {
      const text = ordered[index] ?? "";
      const read = question.about ? readAnswer(question.about, text, context) : readWords(text);
      return { question, text, read };
    }),
  );
}

/**
 * Binds values to the questions that they name. A text for a question without an argument is an answer in
 * words. Pure.
 */
export function bindValues(given: readonly { question: OpenQuestion; value: JsonValue }[]): BoundAnswers {
  return gather(
    given.map(({ question, value }) => {
      const text = typeof value === "string" && !isExactNumber(value) ? value : stringifyExactJson(value);
      const read = question.about ? checkAnswer(question.about, value) : readWords(text);
      return { question, text, read };
    }),
  );
}

interface Read {
  readonly question: OpenQuestion;
  readonly text: string;
  readonly read: { ok: true; value: JsonValue | undefined } | { ok: false; message: string };
}

function gather(all: readonly Read[]): BoundAnswers {
  return {
    bound: all.flatMap(({ question, text, read }) =>
      read.ok ? [{ question, text, value: read.value }] : [],
    ),
    unfit: all.flatMap(({ question, text, read }) =>
      read.ok ? [] : [{ question, text, message: read.message }],
    ),
  };
}

function readWords(text: string): Read["read"] {
  return text.trim() === ""
    ? { ok: false, message: "an empty text is no answer" }
    : { ok: true, value: undefined };
}

/**
 * The texts in the order of the questions that their labels name; undefined when a label is missing or does
 * not name exactly one question.
 */
function byLabel(questions: readonly OpenQuestion[], texts: readonly string[]): string[] | undefined {
  const labels = questions.map(({ about }) => (about ? labelsOf(about.keys) : []));
  const ordered = questions.map(() => "");
  const taken = new Set<number>();
  for (const text of texts) {
    const label = labelIn(text.trim())?.label;
    const matching = labels.flatMap((names, index) =>
      label !== undefined && names.includes(label) ? [index] : [],
    );
    const [only, second] = matching;
    if (only === undefined || second !== undefined || taken.has(only)) return undefined;
    taken.add(only);
    ordered[only] = text;
  }
  return ordered;
}
