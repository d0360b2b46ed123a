import { digitsOf, exactNumberOf, isExactNumber } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import { datesSaidIn } from "../moment/date-values.ts";
import { findMoments } from "../moment/find-moments.ts";
import type { PlanningContext } from "../moment/planning-context.ts";
import { jsonTypesOf } from "../schema/schema-types.ts";
import { withoutLabel } from "./answer-label.ts";

/** Context for finding values. */
export interface ValueSearch {
  readonly schema: JsonObject;
  readonly labels: readonly string[];
  readonly context?: Pick<PlanningContext, "now" | "timezone"> | undefined;
}

/**
 * The possible values of an answer, the most literal first: its text, or the text converted to the types of
 * the schema; then the same for the text after its label or inside its quotes; then the only part of it with
 * the form that the schema requires. The values are not validated.
 */
export function* valuesIn(answer: string, search: ValueSearch): Generator<JsonValue> {
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

/** Maximum number of items of a list in one line. */
const MAX_ITEMS = 1_000;

function* listsOf(text: string, schema: JsonObject): Generator<JsonValue> {
  const written = jsonOf(text);
  if (Array.isArray(written)) {
    yield written;
    return;
  }
  const items = isJsonObject(schema["items"]) ? schema["items"] : {};
  const parts = text.split(/\s*(?:,|;|\n|,?\s\band\b\s)\s*/, MAX_ITEMS).filter((part) => part !== "");
  const values = parts.map((part) => valuesOf(unquoted(part), items).next().value);
  if (values.every((value) => value !== undefined)) yield values;
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

/** The only part of a sentence with the form that the schema requires; none when there are two. */
function* partsOf(text: string, { schema, context }: ValueSearch): Generator<JsonValue> {
  if (text.length > MAX_SENTENCE) return;
  const { format } = schema;
  const types = jsonTypesOf(schema["type"]) ?? [];
  if (Array.isArray(schema["enum"])) {
    const words = ` ${plainChoice(text.replaceAll(/[.,;:!?"']/g, " "))} `;
    const chosen = choiceIn(schema, (choice) => words.includes(` ${plainChoice(choice)} `));
    if (chosen !== undefined) yield chosen;
  } else if (typeof format === "string" && format.startsWith("date")) yield* datesIn(text, format, context);
  else if (typeof format === "string")
    yield* only(text.match(PATTERNS[format === "url" ? "uri" : format] ?? /(?!)/g));
  else if (types.includes("integer") || types.includes("number"))
    yield* only(text.match(/(?<![\p{L}\d.,-])-?\d{1,100}(?:\.\d{1,100})?(?![\p{L}\d]|[.,]\d)/gu)).map(
      exactNumberOf,
    );
}

function only(found: readonly string[] | null): string[] {
  const different = [...new Set(found ?? [])];
  return different.length === 1 ? different : [];
}

function* datesIn(text: string, format: string, now: ValueSearch["context"]): Generator<JsonValue> {
  const { moments } = now ? findMoments(text, now) : { moments: [] };
  const [moment, second] = moments;
  const [reading, other] = moment?.readings ?? [];
  if (reading && !other && !second && moment?.alsoReadings.length === 0) {
    if (reading.type === "day" && format === "date") yield reading.date;
    if (reading.type === "instant" && format === "date-time") yield reading.at;
    return;
  }
  if (format === "date" && moments.length === 0) yield* only([...datesSaidIn(text)]);
}
