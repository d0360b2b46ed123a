import { cut, type Findings } from "../diagnostics/findings.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";

/** Warns of each tool that a catalogue defines twice: the later definition counts. */
export function duplicateTools(tools: readonly ToolDescriptor[], findings: Findings): void {
  const names = new Set<string>();
  const told = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name) && !told.has(name)) {
      told.add(name);
      const message = `tool ${cut(name)} is defined twice; the later definition counts`;
      findings.add("TOOL_DUPLICATE", {}, { message, severity: "warning" });
    }
    names.add(name);
  }
}
