import type { JsonObject } from "../json/json.ts";
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
 * A tool as an MCP server lists it, with where it comes from. Further top-level fields are kept:
 * contracts may stand there (`sequential`, `dependsOn`, `parallel_safe`, `x-orchestration`, ...).
 */
export interface ToolDescriptor {
  /** Name in plans: the server's own, or `server/tool` where two servers offer the same one. */
  name: string;
  /** Name of the server in the configuration file. */
  server?: string | undefined;
  /**
   * Whether the operator trusts the server. True: its hints may also loosen the contract; false: none may;
   * absent: `readOnlyHint` may, for parallelism and repeats.
   */
  trusted?: boolean | undefined;
  /** The operator's configuration of the contract; wins over everything. */
  override?: JsonObject | undefined;
  title?: string | undefined;
  description?: string | undefined;
  /** JSON Schema of the arguments; absent means any object. */
  inputSchema?: JsonObject | undefined;
  /** JSON Schema of the structured output. */
  outputSchema?: JsonObject | undefined;
  /**
   * What earlier outputs of the tool looked like to one tenant: learned by executors, never said by a server,
   * and no part of the tool's digest.
   */
  observedOutput?: OutputShape | undefined;
  annotations?: ToolAnnotations | undefined;
  _meta?: JsonObject | undefined;
  [field: string]: unknown;
}
