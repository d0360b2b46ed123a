import { isJsonObject, type JsonObject, type JsonValue, type ToolDescriptor } from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";

const MAX_DESCRIPTION = 400;
const MAX_FIELD_DESCRIPTION = 120;
/** A tool with a longer line is described again with less of its schemas, so that it leaves room for others. */
const MAX_LINE = 4_000;
const MAX_FIELDS = 60;
/** Keys of JSON Schema that say what a value may be; the others cost tokens and say nothing to a planner. */
const KEPT = new Set(
  "type properties required items enum const format description default minimum maximum anyOf oneOf".split(
    " ",
  ),
);

/** One JSON line a tool: name, description, input schema, and the fields of its output. Everything in it is data. */
export function describeTools(tools: readonly ToolDescriptor[]): string {
  return tools.map(toolLine).join("\n");
}

/** How much is said of schemas, from everything to the names and types of fields; what is left out a repair can still tell. */
const DETAILS: readonly Detail[] = [
  { input: 5, output: 2, kept: KEPT },
  { input: 3, output: 2, kept: KEPT },
  { input: 2, output: 2, kept: KEPT },
  { input: 2, output: 2, kept: new Set(["type", "properties", "required"]) },
  { input: 2, output: 2, kept: new Set(["type", "properties", "required"]), isRequiredOnly: true },
];

interface Detail {
  /** Levels of nesting. */
  input: number;
  output: number;
  kept: ReadonlySet<string>;
  /** Leaves optional arguments out. */
  isRequiredOnly?: boolean;
}

/** The line of one tool. */
export function toolLine(tool: ToolDescriptor): string {
  let line = "";
  for (const detail of DETAILS) {
    line = dataText(describeTool(tool, detail));
    if (line.length <= MAX_LINE) break;
  }
  return line;
}

function describeTool(tool: ToolDescriptor, detail: Detail): JsonObject {
  const output = tool.outputSchema && trimSchema(tool.outputSchema, detail.output, detail);
  const { inputSchema } = tool;
  const input = inputSchema && (detail.isRequiredOnly ? withRequired(inputSchema) : inputSchema);
  return {
    name: tool.name,
    description: cleanText(tool.description ?? tool.title ?? "", MAX_DESCRIPTION),
    input: input ? trimSchema(input, detail.input, detail) : {},
    ...(output === undefined ? {} : { output }),
  };
}

function withRequired(schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const names = Array.isArray(required) ? required : [];
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  return { ...schema, properties: Object.fromEntries(fields.filter(([name]) => names.includes(name))) };
}

function trimSchema(schema: JsonObject, depth: number, detail: Detail): JsonObject {
  if (depth === 0) return {};
  const kept: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (detail.kept.has(key)) kept.push([key, trimValue(key, value, depth, detail)]);
  }
  return Object.fromEntries(kept);
}

function trimValue(key: string, value: JsonValue, depth: number, detail: Detail): JsonValue {
  if (key === "properties" && isJsonObject(value)) {
    const fields = Object.entries(value).slice(0, MAX_FIELDS);
    return Object.fromEntries(
      fields.map(([name, inner]) => [
        cleanText(name, 128),
        isJsonObject(inner) ? trimSchema(inner, depth - 1, detail) : {},
      ]),
    );
  }
  if (isJsonObject(value)) return trimSchema(value, depth - 1, detail);
  if (Array.isArray(value)) {
    return value
      .slice(0, MAX_FIELDS)
      .map((each) => (isJsonObject(each) ? trimSchema(each, depth - 1, detail) : cleaned(each)));
  }
  return cleaned(value);
}

const cleaned = (value: JsonValue): JsonValue =>
  typeof value === "string" ? cleanText(value, MAX_FIELD_DESCRIPTION) : Array.isArray(value) ? [] : value;
