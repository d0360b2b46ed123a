import { CodedError } from "../diagnostics/coded-error.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { duplicateTools } from "../tools/duplicate-tools.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { toolIndexOf } from "../tools/tool-index.ts";
import { type ReadToolCall, readToolCalls, type ToolCall } from "./tool-call.ts";

/** Calls that cannot be ordered: two have the same id, or one has no tool. */
export class ToolCallsInvalidError extends CodedError<{ diagnostics: readonly Diagnostic[] }> {
  readonly code = "TOOL_CALLS_INVALID";
  readonly retryable = false;
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ message }) => message).join("; "), { diagnostics });
  }
}

/**
 * The diagnostics of the calls of one answer: duplicate ids and calls without a tool are errors; tools that
 * are defined twice are warnings (the later definition counts). `path` is the path in the list of calls.
 */
export function checkToolCalls(calls: readonly ToolCall[], tools: readonly ToolDescriptor[]): Diagnostic[] {
  return checkReadCalls(readToolCalls(calls, tools), toolIndexOf(tools).tools);
}

/** {@link checkToolCalls} of calls that are read already. */
export function checkReadCalls(
  calls: readonly ReadToolCall[],
  tools: readonly ToolDescriptor[],
): Diagnostic[] {
  const diagnostics = new DiagnosticCollector();
  const seen = new Set<string>();
  for (const [index, { id, tool }] of calls.entries()) {
    if (tool === undefined) {
      const message = `call ${id} names no tool; write {"id", "tool"} or {"id", "name"}`;
      diagnostics.add("FIELD_MISSING", { keys: [index, "tool"] }, { message });
    }
    if (seen.has(id)) {
      const message = `call id ${id} is used twice; each call needs its own id`;
      diagnostics.add("STEP_ID_DUPLICATE", { keys: [index, "id"] }, { message });
    }
    seen.add(id);
  }
  duplicateTools(tools, diagnostics);
  return diagnostics.toDiagnostics();
}
