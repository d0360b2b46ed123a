import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";

/** Warns of each tool that a catalogue defines twice: the later definition counts. */
export function duplicateTools(tools: readonly ToolDescriptor[], diagnostics: DiagnosticCollector): void {
  const names = new Set<string>();
  const told = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name) && !told.has(name)) {
      told.add(name);
      const message = `tool ${cut(name)} is defined twice; the later definition counts`;
      diagnostics.add("TOOL_DUPLICATE", {}, { message, severity: "warning" });
    }
    names.add(name);
  }
}
