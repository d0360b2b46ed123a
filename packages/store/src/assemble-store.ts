import { createExecutionStore } from "./execution/create-execution-store.ts";
import type { StoreDependencies } from "./journal/dependencies.ts";
import type { EntryLog } from "./journal/entry-log.ts";
import { followInBulks } from "./journal/group-commit.ts";
import { createJournal, type JournalMetrics } from "./journal/journal.ts";
import { createTransact } from "./journal/transact.ts";
import { createUnitReads } from "./journal/unit-reads.ts";
import { createWorkerStore } from "./leases/worker-store.ts";
import { createPlanningStore } from "./planning/create-planning-store.ts";
import { createContractAsks } from "./planning/model-calls.ts";
import { createReads } from "./reads/reads.ts";
import { type ChangedWanted, readChanged } from "./reads/watch-changes.ts";
import { type AcceptanceLog, createAccept, createAcceptance } from "./requests/acceptance.ts";
import { createChangeStore } from "./requests/create-change-store.ts";
import { createControlStore } from "./requests/create-control-store.ts";
import { type RemoveEnded, removeEnded } from "./requests/remove-ended.ts";

/** The parts that differ between MongoDB and memory, with the clocks of the process. */
interface StoreParts extends Omit<StoreDependencies, "acceptedHere" | "journal" | "transact" | "unitReads"> {
  entryLog: EntryLog;
  readLog: EntryLog;
  acceptanceLog: AcceptanceLog;
  owner: string;
  /** How long a write without an answer is sent again, in milliseconds, for a client and for a worker. */
  retryForMs: { client: number; worker: number };
  retryEveryMs?: number | undefined;
  soon?: ((happen: () => void) => void) | undefined;
  onBulk?: ((writes: number) => void) | undefined;
  metrics?: JournalMetrics | undefined;
}

/** Builds the parts of a store, each from the parts before it; the logs are the first. */
export function assembleStore(parts: StoreParts) {
  const { collections, group, clock, owner, sleep, retryForMs, retryEveryMs, soon, metrics } = parts;
  const now = () => clock.now();
  const repeats = { monotonic: () => clock.monotonic(), sleep, retryEveryMs };
  const journal = createJournal({
    ...repeats,
    log: parts.entryLog,
    follow: (writes) => followInBulks(group, collections, writes),
    owner,
    now,
    retryForMs: retryForMs.worker,
    soon,
    onBulk: parts.onBulk,
    metrics,
  });
  const accept = createAccept({ ...repeats, log: parts.acceptanceLog, retryForMs: retryForMs.client, soon });
  const transactFor = (kind: keyof StoreParts["retryForMs"]) =>
    createTransact({
      ...repeats,
      collections,
      owner: `${owner}:${kind}`,
      now,
      retryForMs: retryForMs[kind],
      metrics,
    });
  const unitReads = createUnitReads(collections, parts.readLog);
  const dependencies = {
    ...parts,
    accept,
    acceptedHere: new Map(),
    journal,
    transact: transactFor("client"),
    unitReads,
  };
  return {
    operations: {
      ...createAcceptance(dependencies),
      ...createControlStore(dependencies),
      ...createChangeStore(dependencies),
      ...createReads(dependencies),
      ...createPlanningStore({ ...dependencies, transact: transactFor("worker") }),
      ...createContractAsks(dependencies),
      ...createExecutionStore(dependencies),
      ...createWorkerStore(collections, clock),
      /**
       * Requests of these tenants with their current plans, by ids of requests or plans that a watch reported.
       * The number of reads depends only on the number of tenants. Missing requests, and those of other tenants,
       * are left out.
       */
      readChanged: (ids: readonly string[], wanted: ChangedWanted) =>
        readChanged(collections, unitReads, ids, wanted),
      /**
       * Removes requests that ended and have not changed since a time, with their plans, journals, outputs and
       * model calls, the oldest first. Returns their number, which is below `limit` when there are no more.
       */
      removeEnded: (which: RemoveEnded) => removeEnded(collections, which, owner),
    },
    idle: async () => {
      await Promise.all([accept.idle(), journal.idle()]);
      // The last writes are those that follow from entries.
      await group.idle();
    },
  };
}
