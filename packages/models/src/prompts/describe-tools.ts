import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type SchemaDetail, shorthandSchema } from "./shorthand-schema.ts";

const MAX_DESCRIPTION = 400;
/** A tool with a dearer line, in estimated tokens, is described again with less of its schemas, so that it leaves room for others. */
const MAX_LINE_TOKENS = 1_200;

/** One JSON line a tool: name, description, arguments, and the fields of its output. Everything in it is data. */
export function describeTools(tools: readonly ToolDescriptor[]): string {
  return tools.map(toolLine).join("\n");
}

/** How much is said of arguments, from everything to the names and types of those that are required; what is left out a repair can still tell. */
const DETAILS: readonly SchemaDetail[] = [
  { depth: 5, isFull: true },
  { depth: 3, isFull: true },
  { depth: 2, isFull: true },
  { depth: 2, isFull: false },
  { depth: 2, isFull: false, isRequiredOnly: true },
];
/** Of an output a plan needs the names by which to refer to it. */
const OUTPUT: SchemaDetail = { depth: 3, isFull: false };

/** The line of one tool. */
export function toolLine(tool: ToolDescriptor): string {
  let line = "";
  for (const detail of DETAILS) {
    line = dataText(describeTool(tool, detail));
    if (estimateTokens(line) <= MAX_LINE_TOKENS) break;
  }
  return line;
}

function describeTool(
  { name, description, title, inputSchema, outputSchema }: ToolDescriptor,
  detail: SchemaDetail,
): JsonObject {
  const output = { ...OUTPUT, depth: Math.min(OUTPUT.depth, detail.depth) };
  return {
    name,
    description: cleanText(description ?? title ?? "", MAX_DESCRIPTION),
    input: isOpen(inputSchema) ? {} : shorthandSchema(inputSchema, detail),
    ...(outputSchema === undefined ? {} : { output: shorthandSchema(outputSchema, output) }),
  };
}

/** True for schemas that say nothing of arguments. */
function isOpen(schema: JsonObject | undefined): schema is undefined {
  return !["properties", "anyOf", "oneOf"].some((key) => schema?.[key] !== undefined);
}
