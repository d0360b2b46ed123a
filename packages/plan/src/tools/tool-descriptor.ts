import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { OutputShape } from "../observed-output/output-shape.ts";

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
