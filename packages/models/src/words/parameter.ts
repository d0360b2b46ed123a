import { isJsonObject, type JsonObject, type JsonValue, jsonTypesOf } from "@planwright/plan";
import { splitName, stem, wordsOf } from "./word-forms.ts";

const words = (text: string): readonly string[] => text.split(" ");

/** Names of parameters for the text of a thing, the most likely first. */
export const CONTENT_NAMES = words("content body text message description details comment note notes");
/** Names of parameters for the title of a thing, the most likely first. */
export const TITLE_NAMES = words("title subject headline heading name summary label");
/** Names of parameters for "named" and "called", the most likely first. */
export const NAME_NAMES = words("name title label subject summary filename path");
/** Names of parameters for a search text. */
export const QUERY_NAMES = words("query q keyword search term pattern phrase");
/** Names of parameters for the reason of an action. */
const REASON_NAMES = words("reason why cause justification purpose");
/** Names of parameters that identify a thing. */
export const IDENTITY_NAMES = words(
  "id number key uuid slug path filename file source src name title url code",
);
/** Endings of names of parameters that refer to another thing. */
const LINK_ENDINGS = new Set(words("id ids uuid number key slug"));

const BOUNDS = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"] as const;

/** A limit of a number in JSON Schema. */
export type Bound = (typeof BOUNDS)[number];

/** One argument of a tool, from its input schema. */
export interface Parameter {
  name: string;
  /** Words of the name. */
  words: readonly string[];
  required: boolean;
  type: "string" | "number" | "integer" | "boolean" | "array" | "object";
  /** Type of the items of an array. */
  item: Parameter | null;
  choices: readonly JsonValue[] | null;
  /** Limits of a number in the schema: at least `minimum`, above `exclusiveMinimum`, and so on. */
  bounds: Readonly<Partial<Record<Bound, number>>>;
  /**
   * The format of its text. A `date-time` has a time zone, as RFC 3339 requires; a `local-date-time` may have
   * none.
   */
  shape: "email" | "url" | "date" | "date-time" | "local-date-time" | null;
  /**
   * For a parameter that refers to another thing: the kind of thing ("author"), and the field that identifies
   * it ("id").
   */
  link: { thing: string; ending: string } | null;
  default: JsonValue | undefined;
  description: string | null;
  /** Words of the description, in lower case. */
  describedBy: ReadonlySet<string>;
}

/**
 * Arguments of a tool in the order of its schema.
 * @param thing - the kind of thing of the tool; a parameter named `id` refers to it
 */
export function parametersOf(inputSchema: JsonObject | undefined, thing: string | null): Parameter[] {
  const properties = ownObject(inputSchema, "properties");
  const required = inputSchema && Object.hasOwn(inputSchema, "required") ? inputSchema["required"] : [];
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties)
    .slice(0, 100)
    .map(([name, schema]) => parameterOf(name, isJsonObject(schema) ? schema : {}, isRequired(name), thing));
}

function parameterOf(name: string, stated: JsonObject, required: boolean, thing: string | null): Parameter {
  const schema = withoutNull(stated);
  const words = splitName(name);
  const type = typeOf(schema);
  const items = ownObject(schema, "items");
  const choices = Object.hasOwn(schema, "const") ? [schema["const"] ?? null] : schema["enum"];
  const text = stated["description"] ?? schema["description"];
  const description = typeof text === "string" ? text.replace(/\s+/g, " ").slice(0, 120) : null;
  const link = type === "boolean" || type === "object" ? null : linkOf(words, thing);
  return {
    name,
    words,
    required,
    type,
    item: type === "array" ? parameterOf(name, items, false, thing) : null,
    choices: Array.isArray(choices) ? choices : null,
    bounds: boundsOf(schema),
    shape: type === "string" && link === null ? shapeOf(words, schema["format"], description) : null,
    link,
    default: Object.hasOwn(stated, "default") ? stated["default"] : schema["default"],
    description,
    describedBy: new Set(wordsOf(description ?? "", 30)),
  };
}

function boundsOf(schema: JsonObject): Parameter["bounds"] {
  const stated = BOUNDS.flatMap((bound) => {
    const limit = Object.hasOwn(schema, bound) ? schema[bound] : undefined;
    return typeof limit === "number" ? [[bound, limit] as const] : [];
  });
  return Object.fromEntries(stated);
}

/** `anyOf: [{...}, {"type": "null"}]` only means that the value may be left out. */
function withoutNull(schema: JsonObject): JsonObject {
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(options)) return schema;
  const [only, ...others] = options.filter(isJsonObject).filter((option) => option["type"] !== "null");
  return only && others.length === 0 ? only : schema;
}

/** The own property of this name when it is an object, otherwise an empty object. */
export function ownObject(holder: JsonObject | undefined, key: string): JsonObject {
  const value = holder && Object.hasOwn(holder, key) ? holder[key] : undefined;
  return isJsonObject(value) ? value : {};
}

function typeOf(schema: JsonObject): Parameter["type"] {
  const types = jsonTypesOf(schema["type"]) ?? [];
  for (const type of ["string", "integer", "number", "boolean", "array", "object"] as const) {
    if (types.includes(type)) return type;
  }
  return Object.hasOwn(schema, "properties") ? "object" : "string";
}

function shapeOf(
  words: readonly string[],
  format: JsonValue | undefined,
  description: string | null,
): Parameter["shape"] {
  if (format === "email" || format === "date" || format === "date-time") return format;
  if (format === "uri" || format === "url") return "url";
  const last = words.at(-1);
  if (last === "email" || (last === "address" && words.includes("email"))) return "email";
  if (last === "url" || last === "uri") return "url";
  const day = /YYYY-MM-DD([T ]HH)?/i.exec(description ?? "");
  if (day) return day[1] === undefined ? "date" : "local-date-time";
  return last === "date" ? "date" : null;
}

function linkOf(words: readonly string[], thing: string | null): Parameter["link"] {
  const ending = words.at(-1);
  if (ending === undefined || !LINK_ENDINGS.has(ending)) return null;
  const base = words.slice(0, -1);
  const noun = base.length === 0 ? thing : base.map(stem).join(" ");
  return noun === null ? null : { thing: noun, ending: ending === "ids" ? "id" : ending };
}

/** The last word of the kind of thing that a parameter refers to: "blog" for `parentBlogId`. */
export const linkedNoun = (parameter: Parameter) => parameter.link?.thing.split(" ").at(-1) ?? null;

/** True when its values may contain several words. */
export const isFreeText = (parameter: Parameter) =>
  parameter.type === "string" &&
  parameter.choices === null &&
  parameter.shape === null &&
  parameter.link === null;

/** True for a parameter for free text of any length. */
export const isContent = (parameter: Parameter) =>
  isFreeText(parameter) && CONTENT_NAMES.includes(parameter.words.at(-1) ?? "");

/** True for a parameter for the title of a thing. */
export const isTitle = (parameter: Parameter) =>
  parameter.type === "string" && TITLE_NAMES.includes(parameter.words.at(-1) ?? "");

const LONG_NAMES = new Set([
  ...CONTENT_NAMES,
  ...TITLE_NAMES,
  ...QUERY_NAMES,
  ...REASON_NAMES,
  "memo",
  "bio",
]);

/** True when its values may contain "and" or a comma. */
export const isLongText = (parameter: Parameter) =>
  isFreeText(parameter) && LONG_NAMES.has(parameter.words.at(-1) ?? "");

/** True for a parameter for a number. */
export const isNumeric = (parameter: Parameter) =>
  parameter.type === "number" || parameter.type === "integer";

/** True for a parameter for a day or a moment. */
export const isDated = ({ shape }: Parameter) =>
  shape === "date" || shape === "date-time" || shape === "local-date-time";
