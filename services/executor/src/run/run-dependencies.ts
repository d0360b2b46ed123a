import type { Hint, ToolLimits } from "@planwright/queue";
import type { Liveness, Logger, RunClock } from "@planwright/runtime";
import type { ExecutionStore } from "@planwright/store";
import type { ToolClients } from "@planwright/tools";
import type { RunMetrics } from "../metrics/run-metrics.ts";
import type { LargeJson } from "../outputs/large-json.ts";
import type { OutputMemory } from "../outputs/output-memory.ts";
import type { OutputRecorder } from "../outputs/output-recorder.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { CallRecorder } from "../tools/call-recorder.ts";

/** Dependencies that all runs of a process share. */
export interface RunDependencies {
  store: ExecutionStore;
  tools: Pick<ToolClients, "callTool">;
  /** The secrets that plans name as `secret://name`. Default: none. */
  secrets?: Secrets | undefined;
  /** Limits of tools over all executors. Default: no limits. */
  limits?: ToolLimits | undefined;
  /** The memory for outputs of all plans of this process. Default: up to 256 MiB. */
  outputMemory?: OutputMemory | undefined;
  /** Resolves the arguments of calls that insert large outputs. Default: on the event loop. */
  largeJson?: Pick<LargeJson, "resolve" | "fill" | "lookup" | "answer"> | undefined;
  /** Learns the shapes of outputs. Default: nothing is learned. */
  outputs?: Pick<OutputRecorder, "note"> | undefined;
  /** Counts calls by tool. Default: they are not counted. */
  callRecorder?: Pick<CallRecorder, "note"> | undefined;
  /**
   * Hints that a request waits for a planner; the planners' sweepers find it in any case. Default: no hints.
   */
  offerPlanning?: ((request: Hint) => void) | undefined;
  /** Largest timeoutMs of a step, in milliseconds. Default: that of the engine. */
  maxStepTimeoutMs?: number | undefined;
  /** Names this process in leases and attempts, and limits the time until which it may start calls. */
  liveness: Liveness;
  logger: Logger;
  /** Default: the clock of the platform. */
  clock?: RunClock | undefined;
  /** Default: nothing is counted. */
  metrics?: RunMetrics | undefined;
}
