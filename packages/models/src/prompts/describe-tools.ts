import { type JsonObject, leavesOpen, schemaOfShape, type ToolDescriptor } from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type SchemaDetail, shorthandSchema } from "./shorthand-schema.ts";

const MAX_DESCRIPTION = 400;
/**
 * Maximum of estimated tokens of one tool's line. A longer line is written again with less of the schemas,
 * which leaves tokens for other tools.
 */
const MAX_LINE_TOKENS = 1_200;

/**
 * One line of JSON for each tool: name, description, arguments, and the fields of its output, declared or
 * observed. All of it is data.
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
    input: isOpen(inputSchema) ? {} : shorthandSchema(inputSchema, detail),
    ...(outputSchema === undefined ? {} : { output: shorthandSchema(outputSchema, output) }),
    ...seenOutput(tool, detail),
  };
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
