import type { LeftOutTool, ToolDescriptor } from "@planwright/plan";

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
 * State of an executor's connection to a tool server. `_id` is the server's name: the latest report of any
 * executor is stored.
 */
export interface ToolServerDocument {
  _id: string;
  server: string;
  /**
   * `connecting`: for the first time; `unreachable`: the connection failed or was lost, and is tried again.
   */
  state: "connected" | "connecting" | "unreachable";
  /** Number of tools that it last offered. */
  tools: number;
  /** Listed tools that no plan can use, the first 100. Absent: not known. */
  leftOut?: LeftOutTool[];
  /** Number of all such tools. Absent: not known. */
  leftOutCount?: number;
  /** Why the server is unreachable, for clients. */
  error: string | null;
  /** Last output of its process to standard error, without known secrets; only for operators. */
  stderrTail: string | null;
  /** Time of the last change between connected and not connected, also over restarts of executors. */
  since: Date;
  nextAttemptAt: Date | null;
  /** The executor that has the connection. */
  executor: string;
  updatedAt: Date;
  /** When an operator last asked to reload the server, and who. Absent: never. */
  reloadAskedAt?: Date;
  reloadAskedBy?: string;
  /** What came of reloads: the newest of each executor. Absent: none yet. */
  reloads?: ServerReload[];
}

/** How one executor reloaded a server. */
export interface ServerReload {
  executor: string;
  /** The `reloadAskedAt` that it followed. */
  askedAt: Date;
  /**
   * `reloaded`: calls go to the new connection. `kept`: the new one failed, and an earlier one stays in use, if
   * there is one. `unknown`: the server is not in its servers file, or disabled.
   */
  outcome: "reloaded" | "kept" | "unknown";
  /** Why the new connection failed; null otherwise. */
  reason: string | null;
  /** What the new process wrote to its standard error before it failed, without known secrets; null otherwise. */
  stderrTail: string | null;
}

/**
 * The shape of one tool's outputs in one tenant's runs, for one descriptor of the tool. `_id` is
 * `{tenant}/{server}/{digest}`.
 */
export interface ObservedOutputDocument {
  _id: string;
  tenant: string;
  server: string;
  /** SHA-256 of the canonical descriptor: a changed tool starts again without shapes. */
  digest: string;
  /** The tool's name on the server. */
  tool: string;
  /**
   * An `OutputShape` as JSON text, at most 12 KiB. A text, because its names may not be valid field names.
   */
  shape: string;
  seenAt: Date;
}

/**
 * Results of the calls of one tool in one tenant within one hour, counted by all executors. `_id` is
 * `{tenant}/{server}/{tool}/{hour}`.
 */
export interface ToolCallStatsDocument {
  _id: string;
  tenant: string;
  server: string;
  /** The tool's name on the server. */
  tool: string;
  /** Beginning of the hour, in UTC. */
  hour: Date;
  /** Number of attempts that ended, with or without an answer; attempts that we aborted are not counted. */
  calls: number;
  /** Number of these attempts that failed, or whose effect is unknown. */
  failures: number;
  /** Durations of attempts that were sent, by bucket: a `LatencyHistogram`. Absent: none. */
  durations?: { [bucket: string]: number };
  /** The summed durations of each bucket, in milliseconds. Absent: none, or written by an earlier version. */
  durationSums?: { [bucket: string]: number };
  /** Failures by code. Absent: none. */
  errors?: { [code: string]: number };
  /** Time when the last attempt ended. */
  lastAt: Date;
}
