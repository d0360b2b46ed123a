import type { HeartbeatOptions, Liveness } from "@planwright/runtime";
import type { EntryLog, ExecutionStore, RetentionStore } from "@planwright/store";
import {
  type GroupedWrite,
  type MemoryDatabase,
  type MemoryStore,
  type Reach,
} from "@planwright/store/memory";
import type { ToolClients } from "@planwright/tools";
import type { OutputMemory } from "../../../../../services/executor/src/outputs/output-memory.ts";
import type { InvariantName } from "../checker/invariants.ts";
import type { WorldSettings } from "../world/settings.ts";

export type Tools = Pick<ToolClients, "callTool">;

/** A fault that is planted on purpose, at the ports or in the store. The checker has to find it. */
export interface Mutant {
  /** Its name on the command line. */
  name: string;
  /** The invariants that it breaks: the first violation must be of one of these. */
  violates: readonly [InvariantName, ...InvariantName[]];
  /**
   * Where the search for it begins: a little before a seed that shows it, for a rare fault. Default: 1. It
   * depends on the random values and on this world: when either draws differently, it has to be searched for
   * again (`npm run simulate -- --mutant NAME`).
   */
  firstSeed?: number;
  /** Settings of the worlds in which it is searched for, where those of the seeds hardly show it. */
  settings?: Partial<WorldSettings>;
  /** Changes grouped writes before they reach the database. */
  rewrite?: (write: GroupedWrite) => GroupedWrite;
  /** Wraps the journal log of the executor. */
  log?: (log: EntryLog) => EntryLog;
  /** Wraps the store of the executor. */
  store?: (store: ExecutionStore) => ExecutionStore;
  /** Wraps the store of the API. */
  clientStore?: (store: MemoryStore, database: { database: MemoryDatabase; reach: Reach }) => MemoryStore;
  /** Wraps the connection of the API to the database. */
  clientReach?: (reach: Reach) => Reach;
  /** Wraps the memory for outputs of the executor. */
  outputMemory?: (memory: OutputMemory) => OutputMemory;
  /** Wraps the tools of the executor. */
  tools?: (tools: Tools, id: () => string) => Tools;
  /** Replaces the removal of requests that ended. */
  retention?: (access: { database: MemoryDatabase; reach: Reach }) => RetentionStore;
  /** Wraps the liveness of the executor. */
  liveness?: (liveness: Liveness) => Liveness;
  /** Wraps the store of the workers' heartbeats. */
  workers?: (workers: HeartbeatOptions["workers"]) => HeartbeatOptions["workers"];
  /** Grouped writes use the local clock instead of the database's. */
  hasLocalTime?: boolean;
  hasNoSweeper?: boolean;
}
