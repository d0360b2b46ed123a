import { type Parameter, stem } from "@planwright/models/words";
import { compareNumbers, escapeText, isWholeNumber, type JsonValue } from "@planwright/plan";
import { isEmail, type Token, toNumber } from "./tokens.ts";

/** The value that a parameter gets from a text; undefined when the text cannot be its value. */
export function valueFor(
  parameter: Parameter,
  text: string,
  kind: Token["kind"] = "word",
): JsonValue | undefined {
  if (parameter.choices) return choiceFor(parameter.choices, text);
  switch (parameter.type) {
    case "string":
      return stringFits(parameter, text, kind) ? escapeText(text) : undefined;
    case "number":
    case "integer":
      return numberFor(parameter, text, kind);
    case "boolean":
      return BOOLEANS.get(text.toLowerCase());
    case "array":
      return parameter.item ? valueFor(parameter.item, text, kind) : undefined;
    case "object":
      return undefined;
  }
}

/** "In Progress" chooses `in_progress`. */
function choiceFor(choices: readonly JsonValue[], text: string): JsonValue | undefined {
  const plain = (choice: string | number | boolean) =>
    String(choice)
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, " ");
  return choices.find(
    (choice) => choice !== null && typeof choice !== "object" && plain(choice) === plain(text),
  );
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
  ["yes", true],
  ["no", false],
  ["on", true],
  ["off", false],
  ["enabled", true],
  ["disabled", false],
]);

function numberFor(parameter: Parameter, text: string, kind: Token["kind"]): JsonValue | undefined {
  const { type, bounds } = parameter;
  const value = kind === "quoted" || !hasOwnUnit(parameter, text) ? null : toNumber(text.replace(/%$/, ""));
  if (value === null || (type === "integer" && !isWholeNumber(value))) return undefined;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = bounds;
  const against = (limit: number | undefined) =>
    limit === undefined ? undefined : compareNumbers(value, limit);
  const isWithin =
    (against(minimum) ?? 1) >= 0 &&
    (against(maximum) ?? -1) <= 0 &&
    (against(exclusiveMinimum) ?? 1) > 0 &&
    (against(exclusiveMaximum) ?? -1) < 0;
  return isWithin ? value : undefined;
}

/** False for a sign that the parameter's words contradict: "10%" is no price, and "$10" are no minutes. */
function hasOwnUnit({ words, describedBy, bounds }: Parameter, text: string): boolean {
  const isAbout = (units: ReadonlySet<string>) => [...words, ...describedBy].some((word) => units.has(word));
  if (text.endsWith("%")) return bounds.maximum === 100 || isAbout(PARTS);
  return !/^[$€£]/.test(text) || isAbout(MONEY);
}

const unitWords = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const PARTS = unitWords("percent percentage discount rate share ratio progress volume level");
const MONEY = unitWords(
  "price cost amount budget total fee fees salary pay payment balance value worth money currency sum charge refund deposit revenue income limit fare rent tip tax usd eur gbp dollar dollars euro euros pound pounds cents",
);

/** True for a day that the calendar has, as YYYY-MM-DD. */
const isDay = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/i;
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

function stringFits(parameter: Parameter, text: string, kind: Token["kind"]): boolean {
  switch (parameter.shape) {
    case "email":
      return isEmail(text);
    case "url":
      return kind === "url" || /^([a-z][a-z0-9+.-]*:\/\/|\/|www\.)\S+$/i.test(text);
    case "date":
      return isDay(text);
    case "date-time":
      return ZONED.test(text);
    case "local-date-time":
      return LOCAL.test(text);
    case null:
      if (parameter.link) return kind === "quoted" || canIdentify(parameter.link.ending, text);
      return kind === "quoted" || !isStrayPattern(parameter, text);
  }
}

/** "*.log" for a parameter that takes the path of one file and does not say that it takes a pattern. */
const isStrayPattern = (parameter: Parameter, text: string) =>
  text.includes("*") &&
  isPathName(parameter) &&
  !["pattern", "glob", "wildcard", "wildcards"].some(
    (word) => parameter.words.includes(word) || parameter.describedBy.has(word),
  );

/** True for a parameter that names a file or a folder. */
export const isPathName = ({ words }: Parameter) => PATH_NAMES.has(stem(words.at(-1) ?? ""));

const PATH_NAMES: ReadonlySet<string> = new Set(
  "path filename file folder directory source destination src dest".split(" "),
);

/**
 * True for text that can be an id: it has a digit and no space. A plain word is a name, and a name is not an
 * id.
 */
export const isIdentifier = (text: string) => /\d/.test(text) && !/\s/.test(text);

/** Keys and slugs often consist of words: "dark-mode". */
const canIdentify = (ending: string, text: string) =>
  isIdentifier(text) || ((ending === "key" || ending === "slug") && /^\w+([-_.:/]\w+)+$/.test(text));

/** True for text that looks like the path of a file or folder, or a pattern for paths. */
export const isPath = (text: string) =>
  !/\s/.test(text) &&
  !isEmail(text) &&
  (/^[\w*.~-]*[\\/]/.test(text) || /^[\w*-][\w*.-]*\.[a-z*]\w{0,5}$/i.test(text));

/**
 * True when the form of a token shows that it is a value: a number, an address, an id, a path, a quotation.
 */
export const isTyped = (token: Token | undefined) =>
  token !== undefined &&
  token.kind !== "mark" &&
  (token.kind !== "word" || isIdentifier(token.text) || isPath(token.text) || /^#\w/.test(token.text));

/** What a parameter takes, as text: "an e-mail address", "one of low, high". */
export function expected(parameter: Parameter): string {
  if (parameter.choices) return `one of ${parameter.choices.slice(0, 10).map(String).join(", ")}`;
  const kind = parameter.item ?? parameter;
  const limits = Object.entries(kind.bounds).map(([bound, limit]) => `${LIMITS[bound] ?? bound} ${limit}`);
  return [FORMS[kind.shape ?? kind.type], ...limits].join(" ");
}

const LIMITS: Readonly<Record<string, string>> = {
  minimum: "from",
  exclusiveMinimum: "above",
  maximum: "up to",
  exclusiveMaximum: "below",
};

const FORMS: Readonly<Record<NonNullable<Parameter["shape"]> | Parameter["type"], string>> = {
  email: "an e-mail address",
  url: "a web address",
  date: "a date (YYYY-MM-DD)",
  "date-time": "a date and time with its time zone (2026-01-31T09:00:00Z)",
  "local-date-time": "a date and time (2026-01-31T09:00:00)",
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
};
