import { isJsonObject, type JsonObject, type JsonValue, type ToolDescriptor } from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";

const MAX_DESCRIPTION = 400;
const MAX_FIELD_DESCRIPTION = 120;
const MAX_SCHEMA_DEPTH = 5;
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

/** The line of one tool. */
export function toolLine(tool: ToolDescriptor): string {
  return dataText(describeTool(tool));
}

function describeTool(tool: ToolDescriptor): JsonObject {
  const output = tool.outputSchema && trimSchema(tool.outputSchema, 2);
  return {
    name: tool.name,
    description: cleanText(tool.description ?? tool.title ?? "", MAX_DESCRIPTION),
    input: tool.inputSchema ? trimSchema(tool.inputSchema, MAX_SCHEMA_DEPTH) : {},
    ...(output === undefined ? {} : { output }),
  };
}

function trimSchema(schema: JsonObject, depth: number): JsonObject {
  if (depth === 0) return {};
  const kept: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (KEPT.has(key)) kept.push([key, trimValue(key, value, depth)]);
  }
  return Object.fromEntries(kept);
}

function trimValue(key: string, value: JsonValue, depth: number): JsonValue {
  if (key === "properties" && isJsonObject(value)) {
    const fields = Object.entries(value).slice(0, MAX_FIELDS);
    return Object.fromEntries(
      fields.map(([name, inner]) => [
        cleanText(name, 128),
        isJsonObject(inner) ? trimSchema(inner, depth - 1) : {},
      ]),
    );
  }
  if (isJsonObject(value)) return trimSchema(value, depth - 1);
  if (Array.isArray(value)) {
    return value
      .slice(0, MAX_FIELDS)
      .map((each) => (isJsonObject(each) ? trimSchema(each, depth - 1) : cleaned(each)));
  }
  return cleaned(value);
}

const cleaned = (value: JsonValue): JsonValue =>
  typeof value === "string" ? cleanText(value, MAX_FIELD_DESCRIPTION) : Array.isArray(value) ? [] : value;
