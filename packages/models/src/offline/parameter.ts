import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { CONTENT_NAMES, LINK_ENDINGS, TITLE_NAMES } from "./lexicon.ts";
import { isEmail, type Token, toNumber } from "./tokens.ts";
import { splitName, stem } from "./words.ts";

/** One argument of a tool, as its input schema describes it. */
export interface Parameter {
  name: string;
  /** Words of the name. */
  words: readonly string[];
  required: boolean;
  type: "string" | "number" | "integer" | "boolean" | "array" | "object";
  /** Type of the items of an array. */
  item: Parameter | null;
  choices: readonly JsonValue[] | null;
  shape: "email" | "url" | "date" | "date-time" | null;
  /** For a parameter that points to a thing made elsewhere: what kind of thing ("author"), and by which of its names ("id"). */
  link: { thing: string; ending: string } | null;
  default: JsonValue | undefined;
  description: string | null;
}

/**
 * Arguments of a tool in the order of its schema.
 * @param thing - what the tool is about: a parameter called just `id` points to it
 */
export function parametersOf(inputSchema: JsonObject | undefined, thing: string | null): Parameter[] {
  const properties = ownObject(inputSchema, "properties");
  const required = inputSchema && Object.hasOwn(inputSchema, "required") ? inputSchema["required"] : [];
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties)
    .slice(0, 100)
    .map(([name, schema]) => parameterOf(name, isJsonObject(schema) ? schema : {}, isRequired(name), thing));
}

function parameterOf(name: string, schema: JsonObject, required: boolean, thing: string | null): Parameter {
  const words = splitName(name);
  const type = typeOf(schema);
  const items = ownObject(schema, "items");
  const choices = Object.hasOwn(schema, "const") ? [schema["const"] ?? null] : schema["enum"];
  const description = schema["description"];
  return {
    name,
    words,
    required,
    type,
    item: type === "array" ? parameterOf(name, items, false, thing) : null,
    choices: Array.isArray(choices) ? choices : null,
    shape: type === "string" ? shapeOf(words, schema["format"]) : null,
    link: linkOf(words, thing),
    default: Object.hasOwn(schema, "default") ? schema["default"] : undefined,
    description: typeof description === "string" ? description.replace(/\s+/g, " ").slice(0, 120) : null,
  };
}

/** The named own property when it is an object, else an empty one. */
export function ownObject(holder: JsonObject | undefined, key: string): JsonObject {
  const value = holder && Object.hasOwn(holder, key) ? holder[key] : undefined;
  return isJsonObject(value) ? value : {};
}

function typeOf(schema: JsonObject): Parameter["type"] {
  const stated = schema["type"];
  const types = Array.isArray(stated) ? stated : [stated];
  for (const type of ["string", "integer", "number", "boolean", "array", "object"] as const) {
    if (types.includes(type)) return type;
  }
  return Object.hasOwn(schema, "properties") ? "object" : "string";
}

function shapeOf(words: readonly string[], format: JsonValue | undefined): Parameter["shape"] {
  if (format === "email" || format === "date" || format === "date-time") return format;
  if (format === "uri" || format === "url") return "url";
  if (words.includes("email")) return "email";
  return words.at(-1) === "url" || words.at(-1) === "uri" ? "url" : null;
}

function linkOf(words: readonly string[], thing: string | null): Parameter["link"] {
  const ending = words.at(-1);
  if (ending === undefined || !LINK_ENDINGS.has(ending)) return null;
  const base = words.slice(0, -1);
  const noun = base.length === 0 ? thing : base.map(stem).join(" ");
  return noun === null ? null : { thing: noun, ending: ending === "ids" ? "id" : ending };
}

/** True for a parameter that holds free text of any length. */
export const isContent = (parameter: Parameter) =>
  parameter.type === "string" &&
  parameter.choices === null &&
  parameter.shape === null &&
  parameter.link === null &&
  CONTENT_NAMES.includes(parameter.words.at(-1) ?? "");

/** True for a parameter that holds what a thing is called. */
export const isTitle = (parameter: Parameter) =>
  parameter.type === "string" && TITLE_NAMES.includes(parameter.words.at(-1) ?? "");

/** True when its values may hold several words. */
export const isFreeText = (parameter: Parameter) =>
  parameter.type === "string" &&
  parameter.choices === null &&
  parameter.shape === null &&
  parameter.link === null;

/** The value that a text gives a parameter; undefined when it cannot be one. */
export function valueFor(
  parameter: Parameter,
  text: string,
  kind: Token["kind"] = "word",
): JsonValue | undefined {
  if (parameter.choices) return choiceFor(parameter.choices, text);
  switch (parameter.type) {
    case "string":
      return stringFits(parameter, text, kind) ? literalText(text) : undefined;
    case "number":
    case "integer":
      return numberFor(parameter.type, text, kind);
    case "boolean":
      return BOOLEANS[text.toLowerCase()];
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

/** Text of the user in the plan language: what looks like a reference is escaped, for it is none. */
export const literalText = (text: string) => text.replaceAll("<<", "\\<<").replaceAll("{{", "\\{{");

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  yes: true,
  no: false,
  on: true,
  off: false,
};

function numberFor(type: "number" | "integer", text: string, kind: Token["kind"]): number | undefined {
  const value = kind === "quoted" ? null : toNumber(text);
  return value === null || (type === "integer" && !Number.isSafeInteger(value)) ? undefined : value;
}

function stringFits(parameter: Parameter, text: string, kind: Token["kind"]): boolean {
  switch (parameter.shape) {
    case "email":
      return isEmail(text);
    case "url":
      return kind === "url" || /^([a-z][a-z0-9+.-]*:\/\/|\/|www\.)\S+$/i.test(text);
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text);
    case "date-time":
      return /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text);
    case null:
      return parameter.link === null || kind === "quoted" || isIdentifier(text);
  }
}

/** "30 minutes", "3 day": a number in front of the name of the one parameter that counts such things. */
export function measureAt(
  parameters: readonly Parameter[],
  tokens: readonly Token[],
  at: number,
): { parameter: Parameter; value: JsonValue; next: number } | null {
  const [number, unit] = [tokens[at], tokens[at + 1]];
  if (number?.kind !== "number" || unit?.kind !== "word") return null;
  const counting = parameters.filter(
    (each) =>
      (each.type === "number" || each.type === "integer") && each.words.map(stem).includes(stem(unit.lower)),
  );
  const [parameter] = counting;
  const value = parameter && valueFor(parameter, number.text, number.kind);
  return parameter && counting.length === 1 && value !== undefined
    ? { parameter, value, next: at + 2 }
    : null;
}

/** True for text that can be an id: it has a digit and no space. A plain word is a name, and a name is not an id. */
export const isIdentifier = (text: string) => /\d/.test(text) && !/\s/.test(text);
