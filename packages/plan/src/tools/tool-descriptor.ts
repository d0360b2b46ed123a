import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { OutputShape } from "./output-shape.ts";

/**
 * MCP tool annotations: hints, untrusted unless the server is trusted. `readOnlyHint` is believed of every
 * server that is not marked with `trusted: false`.
 */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/**
 * A tool as an MCP server lists it, with its origin. Further top-level fields are kept, because they may be
 * part of the contract (`sequential`, `dependsOn`, `parallel_safe`, `x-orchestration`, ...).
 */
export interface ToolDescriptor {
  /** Name in plans: the server's name, or `server/tool` when two servers offer the same name. */
  name: string;
  /** Name of the server in the configuration file. */
  server?: string | undefined;
  /**
   * Whether the operator trusts the server. True: its hints may also loosen the contract. False: none may.
   * Absent: only `readOnlyHint` may, for parallelism and repeats.
   */
  trusted?: boolean | undefined;
  /** The operator's configuration of the contract; overrides everything. */
  override?: JsonObject | undefined;
  title?: string | undefined;
  description?: string | undefined;
  /** JSON Schema of the arguments; absent means any object. */
  inputSchema?: JsonObject | undefined;
  /** JSON Schema of the structured output. */
  outputSchema?: JsonObject | undefined;
  /**
   * The shape of earlier outputs of the tool for one tenant: learned by executors, never declared by a
   * server, and not part of the tool's digest.
   */
  observedOutput?: OutputShape | undefined;
  annotations?: ToolAnnotations | undefined;
  _meta?: JsonObject | undefined;
  [field: string]: unknown;
}

/**
 * A tool in the form of MCP, from that form or from those of model providers: `{type: "function", function:
 * {name, description, parameters}}`, with fields of the contract at either level, `{name, parameters}` and
 * `{name, input_schema}`. The same object when it already has the form of MCP. Never throws.
 */
export function readTool<Tool extends ToolDescriptor>(tool: Tool): Tool {
  try {
    const wrapped = tool["function"];
    const whole = isJsonObject(wrapped) ? { ...tool, ...wrapped } : tool;
    const schema = [whole["parameters"], whole["input_schema"]].find(isJsonObject);
    return whole.inputSchema !== undefined || !schema ? whole : { ...whole, inputSchema: schema };
  } catch {
    // A descriptor whose getters or proxy throw: its readers handle that member by member.
    return tool;
  }
}

/** A tool that a server lists and that no plan can use. */
export interface LeftOutTool {
  server: string;
  /**
   * Its name on the server, without invisible characters and cut to 128; null when the entry of the list has no
   * name.
   */
  tool: string | null;
  /** Why, as a clause with its own subject: "it has no inputSchema". */
  reason: string;
}

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

/**
 * A function that computes its result once for each object and caches it for the lifetime of the object.
 * Neither the objects nor the results may change.
 */
export function remembered<Subject extends object, Answer extends NonNullable<unknown>>(
  work: (subject: Subject) => Answer,
): (subject: Subject) => Answer {
  const known = new WeakMap<Subject, Answer>();
  return (subject) => {
    const found = known.get(subject);
    if (found !== undefined) return found;
    const answer = work(subject);
    known.set(subject, answer);
    return answer;
  };
}
