import type { LeftOutTool, ToolDescriptor } from "@planwright/plan";
import type { RecordedError } from "./errors.ts";
import type { ModelLimits } from "./model-call-document.ts";

/** One tool as an executor last saw it. `_id` is `{server}/{tool}`. */
export interface ToolDocument {
  _id: string;
  server: string;
  descriptor: ToolDescriptor;
  /** SHA-256 of the canonical descriptor. */
  digest: string;
  updatedAt: Date;
}

/** Connection to a tool server, by the latest report of any executor. `_id` is the server's name. */
export interface ToolServerDocument {
  _id: string;
  server: string;
  /** `connecting`: for the first time; `unreachable`: the connection failed or was lost, and is tried again. */
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
  /** The newest question to a model about the contracts of its tools. Absent: none yet. */
  contractAsk?: ContractAsk;
}

/** A question of an operator to a model: what the contracts of a server's tools may be. */
export interface ContractAsk {
  /** `contracts_{unix seconds}_{random}`. The ids of its model calls begin with it. */
  id: string;
  /** Whose operator asked: its model calls are this tenant's. */
  tenant: string;
  /** Limits of its model calls together. Absent: none. */
  modelLimits?: ModelLimits;
  askedAt: Date;
  /** SHA-256 of the tools that it is about: for other tools its answer says nothing. */
  digest: string;
  /** The planner that asks the model; null before one does. */
  takenBy: string | null;
  /** Null before the model answered. */
  answer: ContractAnswer | null;
}

/** What a model proposed for a server's tools, or why it did not. */
export interface ContractAnswer {
  /** "provider:model". */
  model: string;
  /** A list of `ContractProposal` as JSON text, because its names may not be valid field names. */
  proposals: string;
  /** Number of tools that the model was asked about. */
  asked: number;
  /** Number of its proposals that could not be used. */
  unusable: number;
  /** Why it was not asked about more tools; null when nothing failed. */
  error: RecordedError | null;
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

/** The sign-in at a tool server. `_id` is the server's name. */
export interface SignInDocument {
  _id: string;
  server: string;
  /** The address of the server that it is for. */
  url: string;
  /** Tokens, and what only executors need; encrypted by an executor. */
  sealed: string;
  /** When the access token ends; null: there is none, or it has no known end. */
  tokensEndAt: Date | null;
  /** Present while a person has to sign in: the address that they open, and the name of the question in the answer. */
  asked: { authorizationUrl: string; state: string; since: Date } | null;
  /** How the authorization server sent that person back, until an executor has read it. */
  answer: { code: string; iss: string | null } | { refused: string } | null;
  /** Why the last sign-in failed; null: it did not. */
  error: string | null;
  updatedAt: Date;
  /** The executor that changes it now. Absent: none does. */
  holder?: string;
  heldUntil?: Date;
}

/** Shape of a tool's outputs in one tenant, for one descriptor. `_id` is `{tenant}/{server}/{digest}`. */
export interface ObservedOutputDocument {
  _id: string;
  tenant: string;
  server: string;
  /** SHA-256 of the canonical descriptor: a changed tool starts again without shapes. */
  digest: string;
  /** The tool's name on the server. */
  tool: string;
  /** An `OutputShape` as JSON text, at most 12 KiB. A text, because its names may not be valid field names. */
  shape: string;
  seenAt: Date;
}

/** Calls of a tool in one tenant within one hour. `_id` is `{tenant}/{server}/{tool}/{hour}`. */
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
