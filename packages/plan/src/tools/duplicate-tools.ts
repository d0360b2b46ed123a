import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";

/** Warns about each tool that a catalogue defines twice: the later definition counts. */
export function duplicateTools(tools: readonly ToolDescriptor[], diagnostics: DiagnosticCollector): void {
  const names = new Set<string>();
  const reported = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name) && !reported.has(name)) {
      reported.add(name);
      const message = `tool ${cut(name)} is defined twice; the later definition counts`;
      diagnostics.add("TOOL_DUPLICATE", {}, { message, severity: "warning" });
    }
    names.add(name);
  }
}
