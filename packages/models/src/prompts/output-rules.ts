import { leavesOpen, type ToolDescriptor } from "@planwright/plan";

const SEEN = `"seen" of a tool are the fields that its output had in earlier runs: refer to these, "?" behind those that were not always there, [key] for a key that differs from run to run.`;
const UNKNOWN = `Of a tool with neither "output" nor "seen" the fields are not known. Never guess one: refer to the whole output, "<<tool>>". Where only a field will do, every call that changes something waits ("dependsOn") for the call that reads it.`;

/**
 * Rules for outputs that no schema declares: one for observed outputs, and one for unknown outputs. Empty
 * when every tool declares its output, and for a single tool, to whose output no step refers: such prompts
 * cost no additional tokens. Pure.
 */
export function outputRules(tools: readonly ToolDescriptor[]): string {
  if (tools.length < 2) return "";
  const isSeen = ({ observedOutput, outputSchema }: ToolDescriptor) =>
    observedOutput !== undefined && leavesOpen(outputSchema);
  const isUnknown = (tool: ToolDescriptor) => tool.outputSchema === undefined && !isSeen(tool);
  const rules = [...(tools.some(isSeen) ? [SEEN] : []), ...(tools.some(isUnknown) ? [UNKNOWN] : [])];
  return rules.join("\n");
}
