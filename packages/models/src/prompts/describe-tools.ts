import {
  type JsonObject,
  knownContract,
  leavesOpen,
  schemaOfShape,
  type ToolDescriptor,
} from "@planwright/plan";
import { cleanText, dataText } from "./clean-text.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type SchemaDetail, shorthandSchema } from "./shorthand-schema.ts";

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
