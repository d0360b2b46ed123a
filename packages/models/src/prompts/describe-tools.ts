import { type JsonObject, leavesOpen, schemaOfShape, type ToolDescriptor } from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type SchemaDetail, shorthandSchema } from "./shorthand-schema.ts";

const MAX_DESCRIPTION = 400;
/**
 * Most estimated tokens of one tool's line. A tool with a longer one is described again with less of its
 * schemas, which leaves tokens for others.
 */
const MAX_LINE_TOKENS = 1_200;

/**
 * One JSON line a tool: name, description, arguments, and the fields of its output, declared or seen.
 * Everything in it is data.
 */
export function describeTools(tools: readonly ToolDescriptor[]): string {
  return tools.map(toolLine).join("\n");
}

/**
 * How much is shown of arguments, from everything to the names and types of those that are required. A repair
 * can still name what is left out.
 */
const DETAILS: readonly SchemaDetail[] = [
  { depth: 5, isFull: true },
  { depth: 3, isFull: true },
  { depth: 2, isFull: true },
  { depth: 2, isFull: false },
  { depth: 2, isFull: false, isRequiredOnly: true },
];
/** A plan needs the names of an output's fields to refer to them. */
const OUTPUT: SchemaDetail = { depth: 3, isFull: false };
/** Nothing else is known of observed outputs, and the required field is often in items of a nested list. */
const SEEN: SchemaDetail = { depth: 5, isFull: false };

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
    input: isOpen(inputSchema) ? {} : shorthandSchema(inputSchema, detail),
    ...(outputSchema === undefined ? {} : { output: shorthandSchema(outputSchema, output) }),
    ...seenOutput(tool, detail),
  };
}

/** What earlier outputs looked like, where no schema says it all. */
function seenOutput({ outputSchema, observedOutput }: ToolDescriptor, { depth }: SchemaDetail): JsonObject {
  if (!observedOutput || !leavesOpen(outputSchema)) return {};
  const detail = { ...SEEN, depth: Math.min(SEEN.depth, depth) };
  return { seen: shorthandSchema(schemaOfShape(observedOutput), detail) };
}

/** True for schemas that describe no arguments. */
function isOpen(schema: JsonObject | undefined): schema is undefined {
  return !["properties", "anyOf", "oneOf"].some((key) => schema?.[key] !== undefined);
}
