import {
  digitsOf,
  isJsonNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonTypesOf,
  knownContract,
  leavesOpen,
  schemaOfShape,
  stringifyExactJson,
  type ToolDescriptor,
  withMeantValues,
} from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";
import { estimateTokens } from "./prompt-budget.ts";

const MAX_DESCRIPTION = 400;
/**
 * Maximum of estimated tokens of one tool's line. A longer line is written again with less of the schemas,
 * which leaves tokens for other tools.
 */
const MAX_LINE_TOKENS = 1_200;

/** Maximum of estimated tokens for what a line says about the contract of its tool. */
const MAX_CONTRACT_TOKENS = 10;

/**
 * One line of JSON for each tool: name, description, how its contract lets it run, arguments, and the fields
 * of its output, declared or observed. All of it is data.
 */
export function describeTools(tools: readonly ToolDescriptor[]): string {
  return tools.map(toolLine).join("\n");
}

/**
 * How much of the arguments is shown, from everything to the names and types of required ones. A repair can
 * still name arguments that are left out.
 */
const DETAILS: readonly SchemaDetail[] = [
  { depth: 5, isFull: true },
  { depth: 3, isFull: true },
  { depth: 2, isFull: true },
  { depth: 2, isFull: false },
  { depth: 2, isFull: false, isRequiredOnly: true },
];
/** A plan needs the names of an output's fields for its references. */
const OUTPUT: SchemaDetail = { depth: 3, isFull: false };
/** An observed output is described only here, and the needed field is often in items of a nested list. */
const OBSERVED_OUTPUT: SchemaDetail = { depth: 5, isFull: false };

/** The line of one tool. */
export function toolLine(tool: ToolDescriptor): string {
  let line = "";
  for (const detail of DETAILS) {
    line = dataText(describeTool(tool, detail));
    if (estimateTokens(line) <= MAX_LINE_TOKENS) break;
  }
  return line;
}

function describeTool(tool: ToolDescriptor, detail: SchemaDetail): JsonObject {
  const { name, description, title, inputSchema, outputSchema } = tool;
  const output = { ...OUTPUT, depth: Math.min(OUTPUT.depth, detail.depth) };
  return {
    name,
    description: cleanText(description ?? title ?? "", MAX_DESCRIPTION),
    ...contractNotes(tool),
    input: isOpen(inputSchema) ? {} : shorthandSchema(inputSchema, detail),
    ...(outputSchema === undefined ? {} : { output: shorthandSchema(outputSchema, output) }),
    ...seenOutput(tool, detail),
  };
}

/**
 * What a plan has to respect of a declared contract: tools that come before, the most items of one call, and
 * calls one at a time. The first ones that fit into {@link MAX_CONTRACT_TOKENS}; the contract holds anyway.
 */
function contractNotes(tool: ToolDescriptor): JsonObject {
  const { contract, sources } = knownContract(tool);
  const { dependsOn, batch, barrier, mode } = contract;
  const isDeclared = sources.mode !== "default" && sources.mode !== "annotations";
  const isAlone = barrier || (isDeclared && mode === "sequential-only");
  const all = [
    ...dependsOn.map(({ tool: name }) => `after ${name}`),
    ...(batch ? [`batch ${batch.max}`] : []),
    ...(isAlone ? ["alone"] : []),
  ];
  let run = "";
  for (const note of all) {
    const longer = run === "" ? note : `${run},${note}`;
    if (estimateTokens(`,${dataText({ run: longer }).slice(1, -1)}`) <= MAX_CONTRACT_TOKENS) run = longer;
  }
  return run === "" ? {} : { run };
}

/** The shape of earlier outputs, unless the schema declares the whole output. */
function seenOutput({ outputSchema, observedOutput }: ToolDescriptor, { depth }: SchemaDetail): JsonObject {
  if (!observedOutput || !leavesOpen(outputSchema)) return {};
  const detail = { ...OBSERVED_OUTPUT, depth: Math.min(OBSERVED_OUTPUT.depth, depth) };
  return { seen: shorthandSchema(schemaOfShape(observedOutput), detail) };
}

/** True when the schema describes no arguments. */
function isOpen(schema: JsonObject | undefined): schema is undefined {
  return !["properties", "anyOf", "oneOf"].some((key) => schema?.[key] !== undefined);
}

/** How much of a schema is shown. */
interface SchemaDetail {
  /** Levels of nesting; below them only types are shown. */
  depth: number;
  /** True: descriptions, allowed values, ranges and formats are shown, not only names and types. */
  isFull: boolean;
  /** True: optional fields are left out. */
  isRequiredOnly?: boolean;
}

const MAX_FIELDS = 60;
const MAX_CHOICES = 60;
const MAX_NAME = 128;
const MAX_FIELD_DESCRIPTION = 120;
const MAX_VALUE = 120;

/**
 * A JSON Schema in the short form of prompts, which needs a fraction of its tokens. An object becomes its
 * fields by name, with `?` after optional ones. A list becomes a list of its items' schema. Anything else
 * becomes a text: type or allowed values, range, default, then a colon and the description. Example:
 * `{"to":["string (email)"],"days?":"integer 1..10 = 3: How far ahead"}`. Everything from the schema is
 * cleaned and cut.
 */
export function shorthandSchema(schema: JsonValue, detail: SchemaDetail): JsonValue {
  if (!isJsonObject(schema)) return "any";
  const { items } = schema;
  const properties = namedOrKeyed(schema, detail);
  if (properties) return detail.depth > 0 ? fieldsOf(schema, properties, detail) : "object";
  if (isJsonObject(items)) {
    const below = { ...detail, depth: detail.depth - 1 };
    return detail.depth > 0 ? [shorthandSchema(items, below), ...descriptionOf(schema, detail)] : "array";
  }
  const choices = alternativesOf(schema);
  if (choices.length === 0) return withDescription(leafOf(schema, detail), schema, detail);
  const short = [
    ...new Set(
      choices.map((each) => JSON.stringify(shorthandSchema(each, { ...detail, depth: detail.depth - 1 }))),
    ),
  ];
  const values = short.map((text): JsonValue => JSON.parse(text));
  if (detail.depth === 0) return "any";
  return values.every((value) => typeof value === "string")
    ? withDescription(values.join(" or "), schema, detail)
    : { "one of": values };
}

/** The fields of an object; for outputs also `[key]` for the values of all other keys. */
function namedOrKeyed(schema: JsonObject, { isFull }: SchemaDetail): JsonObject | undefined {
  const { properties, additionalProperties } = schema;
  const isKeyed = !isFull && isJsonObject(additionalProperties);
  if (isJsonObject(properties)) return isKeyed ? { ...properties, [KEY]: additionalProperties } : properties;
  return isKeyed ? { [KEY]: additionalProperties } : undefined;
}

const KEY = "[key]";

function fieldsOf(schema: JsonObject, properties: JsonObject, detail: SchemaDetail): JsonObject {
  const names = Array.isArray(schema["required"]) ? schema["required"] : [];
  const required = new Set(names);
  const below = { ...detail, depth: detail.depth - 1 };
  const fields = Object.entries(properties).filter(([name]) => !detail.isRequiredOnly || required.has(name));
  return Object.fromEntries(
    fields.slice(0, MAX_FIELDS).map(([name, inner]) => {
      const isRequired = required.has(name) || name === KEY;
      return [`${cleanText(name, MAX_NAME)}${isRequired ? "" : "?"}`, shorthandSchema(inner, below)];
    }),
  );
}

function alternativesOf({ anyOf, oneOf }: JsonObject): JsonValue[] {
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return choices.slice(0, MAX_CHOICES);
}

/** The text of a value that is neither an object nor a list in the schema. */
function leafOf(written: JsonObject, { isFull }: SchemaDetail): string {
  const schema = withMeantValues(written);
  const type = typeOf(schema["type"]);
  if (!isFull) return type;
  const { enum: choices, format, minimum, maximum } = schema;
  if (Array.isArray(choices) && choices.length > 0) {
    return choices.slice(0, MAX_CHOICES).map(textOf).join(" | ") + defaultOf(schema);
  }
  if (Object.hasOwn(schema, "const")) return textOf(schema["const"] ?? null);
  const form = typeof format === "string" ? ` (${cleanText(format, 40)})` : "";
  const isBounded = isJsonNumber(minimum) || isJsonNumber(maximum);
  const range = isBounded ? ` ${numberOf(minimum)}..${numberOf(maximum)}` : "";
  return `${type}${form}${range}${defaultOf(schema)}`;
}

const numberOf = (value: JsonValue | undefined) => (isJsonNumber(value) ? digitsOf(value) : "");
const textOf = (value: JsonValue) => cleanText(stringifyExactJson(value), MAX_VALUE);

function typeOf(type: JsonValue | undefined): string {
  return jsonTypesOf(type)?.join("|") ?? "any";
}

function defaultOf(schema: JsonObject): string {
  const value = schema["default"];
  return value === undefined || (typeof value === "object" && value !== null) ? "" : ` = ${textOf(value)}`;
}

function withDescription(text: string, schema: JsonObject, detail: SchemaDetail): string {
  return [text, ...descriptionOf(schema, detail)].join(": ");
}

function descriptionOf({ description }: JsonObject, { isFull }: SchemaDetail): string[] {
  const text = isFull && typeof description === "string" ? cleanText(description, MAX_FIELD_DESCRIPTION) : "";
  return text === "" ? [] : [text];
}
