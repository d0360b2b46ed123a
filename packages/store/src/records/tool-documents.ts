import type { ToolDescriptor } from "@planwright/plan";

/** One tool as an executor last saw it. `_id` is `{server}/{tool}`. */
export interface ToolDocument {
  _id: string;
  server: string;
  descriptor: ToolDescriptor;
  /** SHA-256 of the canonical descriptor. */
  digest: string;
  updatedAt: Date;
}

/**
 * Where an executor's connection to a tool server stands. `_id` is the server's name: the latest report of
 * any executor counts.
 */
export interface ToolServerDocument {
  _id: string;
  server: string;
  /** `connecting`: for the first time; `unreachable`: it did not come up, or is gone, and is tried again. */
  state: "connected" | "connecting" | "unreachable";
  /** How many tools it offered last. */
  tools: number;
  /** Why it is unreachable, as shown to clients. */
  error: string | null;
  /**
   * What its process wrote last to its standard error, without secrets that are known; for operators alone.
   */
  stderrTail: string | null;
  /** Since when it is connected, or is not. */
  since: Date;
  nextAttemptAt: Date | null;
  /** Whose connection it is. */
  executor: string;
  updatedAt: Date;
}

/**
 * What one tenant's runs have shown of the outputs of one tool, as long as the tool's descriptor is the same.
 * `_id` is `{tenant}/{server}/{digest}`.
 */
export interface ObservedOutputDocument {
  _id: string;
  tenant: string;
  server: string;
  /** SHA-256 of the canonical descriptor: a changed tool starts again without shapes. */
  digest: string;
  /** The server's own name for the tool. */
  tool: string;
  /** An `OutputShape` as JSON text, at most 12 KiB: its names are no names of this database. */
  shape: string;
  seenAt: Date;
}

/**
 * How the calls of one tool in one tenant ended within one hour, counted by all executors. `_id` is
 * `{tenant}/{server}/{tool}/{hour}`.
 */
export interface ToolCallStatsDocument {
  _id: string;
  tenant: string;
  server: string;
  /** The server's own name for the tool. */
  tool: string;
  /** When the hour began, in UTC. */
  hour: Date;
  /** Attempts that ended with an answer or without; those that we aborted are not counted. */
  calls: number;
  /** Attempts of them that failed, or whose effect is unknown. */
  failures: number;
  /** Of the attempts that were sent, by bucket: a `LatencyHistogram`. Absent: none. */
  durations?: { [bucket: string]: number };
  /** Failures by code. Absent: none. */
  errors?: { [code: string]: number };
  /** When the last of them ended. */
  lastAt: Date;
}
