import { isJsonObject, type JsonObject, type JsonValue, type ToolDescriptor } from "@planwright/plan";
import { cleanText } from "../prompts/clean-text.ts";

/** A tool as a provider takes it: a model calls it by the provider's own means. */
export interface OfferedTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  schema: JsonObject;
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 400;
const MAX_FIELD_DESCRIPTION = 120;
const MAX_FIELDS = 60;
const MAX_DEPTH = 6;
const KEPT = new Set(
  "type properties required items enum const format description default minimum maximum anyOf oneOf".split(
    " ",
  ),
);

/**
 * Tools as they are offered, by the names that providers allow; each name stands for one tool. What strangers wrote is cleaned and cut as in prompts.
 */
export function offerTools(
  tools: readonly ToolDescriptor[],
): Map<string, { tool: ToolDescriptor; offer: OfferedTool }> {
  const offered = new Map<string, { tool: ToolDescriptor; offer: OfferedTool }>();
  for (const tool of tools) {
    const plain = tool.name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME - 4) || "tool";
    let name = plain;
    for (let number = 2; offered.has(name); number += 1) name = `${plain}_${number}`;
    const description = cleanText(tool.description ?? tool.title ?? "", MAX_DESCRIPTION);
    const schema = { type: "object", properties: {}, ...cleanSchema(tool.inputSchema ?? {}, MAX_DEPTH) };
    offered.set(name, { tool, offer: { name, description, schema } });
  }
  return offered;
}

function cleanSchema(schema: JsonObject, depth: number): JsonObject {
  if (depth === 0) return {};
  const kept = Object.entries(schema).filter(([key]) => KEPT.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, cleanValue(key, value, depth)]));
}

function cleanValue(key: string, value: JsonValue, depth: number): JsonValue {
  if (key === "properties" && isJsonObject(value)) {
    const fields = Object.entries(value).slice(0, MAX_FIELDS);
    return Object.fromEntries(
      fields.map(([name, inner]) => [
        name.slice(0, 128),
        isJsonObject(inner) ? cleanSchema(inner, depth - 1) : {},
      ]),
    );
  }
  if (isJsonObject(value)) return cleanSchema(value, depth - 1);
  if (Array.isArray(value)) {
    return value
      .slice(0, MAX_FIELDS)
      .map((each) => (isJsonObject(each) ? cleanSchema(each, depth - 1) : cleaned(each)));
  }
  return cleaned(value);
}

const cleaned = (value: JsonValue): JsonValue =>
  typeof value === "string" ? cleanText(value, MAX_FIELD_DESCRIPTION) : Array.isArray(value) ? [] : value;
