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
 * How much is said of arguments, from everything to the names and types of those that are required; what is
 * left out a repair can still tell.
 */
const DETAILS: readonly SchemaDetail[] = [
  { depth: 5, isFull: true },
  { depth: 3, isFull: true },
  { depth: 2, isFull: true },
  { depth: 2, isFull: false },
  { depth: 2, isFull: false, isRequiredOnly: true },
];
/** Of an output a plan needs the names by which to refer to it. */
const OUTPUT: SchemaDetail = { depth: 3, isFull: false };
/**
 * Of outputs that were seen nothing else is known, and what is wanted often stands in items of a list inside.
 */
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

/** True for schemas that say nothing of arguments. */
function isOpen(schema: JsonObject | undefined): schema is undefined {
  return !["properties", "anyOf", "oneOf"].some((key) => schema?.[key] !== undefined);
}
