import type { HeartbeatOptions, Liveness } from "@planwright/runtime";
import { type EntryLog, type ExecutionStore } from "@planwright/store";
import {
  type GroupedWrite,
  type MemoryDatabase,
  type MemoryStore,
  type Reach,
} from "@planwright/store/memory";
import type { ToolClients } from "@planwright/tools";
import type { InvariantName } from "../checker/invariants.ts";

export type Tools = Pick<ToolClients, "callTool">;

/** A fault planted on purpose, at the ports or in the store, to see that the checker sees it. */
export interface Mutant {
  /** What is wrong, as the command line names it. */
  name: string;
  /** The invariants that it breaks: one of these has to be the first that is found violated. */
  violates: readonly [InvariantName, ...InvariantName[]];
  /** Changes grouped writes on their way to the database. */
  rewrite?: (write: GroupedWrite) => GroupedWrite;
  /** What the executor takes for the log of its journals. */
  log?: (log: EntryLog) => EntryLog;
  /** What the executor takes for its store. */
  store?: (store: ExecutionStore) => ExecutionStore;
  /** What the API takes for its store. */
  clientStore?: (store: MemoryStore, database: { database: MemoryDatabase; reach: Reach }) => MemoryStore;
  /** What the executor takes for its tools. */
  tools?: (tools: Tools, id: () => string) => Tools;
  /** What the executor takes for its own life. */
  liveness?: (liveness: Liveness) => Liveness;
  /** What the executor takes for the place where workers are known. */
  workers?: (workers: HeartbeatOptions["workers"]) => HeartbeatOptions["workers"];
  /** Grouped writes go by the local clock instead of the database's. */
  hasLocalTime?: boolean;
  hasNoSweeper?: boolean;
}
