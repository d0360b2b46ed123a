/** What the roles of one process run on: the short ways inside the process, and Redis only beyond it. */
import { setTimeout as delay } from "node:timers/promises";
import { createLocalFirstQueues, createLocalQueues, createQueues, type Queues } from "@planwright/queue";
import { type RolesOptions, SettingsError, workerAddressKey } from "@planwright/runtime";
import { createStore, type Store, type StoreOptions } from "@planwright/store";
import type { AnyRole } from "./env.ts";
import { tellEndsHere } from "./tell-ends-here.ts";

/** The store and the queues of a process with these roles, which works alone or beside others. */
export function composed(
  [{ settings }]: readonly [AnyRole, ...AnyRole[]],
  { healthPort, isAlone }: { healthPort: number; isAlone: boolean },
): Pick<RolesOptions<Store, Queues, Partial<StoreOptions>>, "createStore" | "createQueues"> {
  if (!isAlone)
    return {
      createStore: async (options) => tellEndsHere(await createStore(options)),
      createQueues: (options) => createLocalFirstQueues(createQueues(options)),
    };
  return {
    createStore: async (options) =>
      tellEndsHere(await createStoreAlone(options, { host: settings.HOST, healthPort })),
    createQueues({ onError, logger }) {
      logger.info(
        "works alone, without Redis: limits of tools and callers are in memory; a second process, or roles apart, need REDIS_URL",
      );
      return createLocalQueues({ onError });
    },
  };
}

/** How often heartbeats of other workers are read while it is not known whether they live, in milliseconds. */
const READ_EVERY_MS = 100;

/**
 * Opens the store of a process that works alone. Workers that have not stopped may be those of an earlier process
 * that was killed: if they listened where this process will listen, they are; otherwise it waits until they send a
 * heartbeat, or count as dead.
 * @param address - where the health of this process is served; port 0: any
 * @throws {SettingsError} when another process works on the same database
 */
async function createStoreAlone(
  options: StoreOptions,
  { host, healthPort }: { host: string; healthPort: number },
): Promise<Store> {
  const store = await createStore(options);
  const name = host.includes(":") ? `[${host}]` : host;
  const exceptAt = healthPort === 0 ? null : workerAddressKey(`http://${name}:${healthPort}`);
  try {
    const before = await store.readHeartbeats({ exceptAt });
    for (let now = before; now.size > 0; now = await store.readHeartbeats({ exceptAt })) {
      const alive = [...now].find(([worker, at]) => before.get(worker) !== at);
      if (alive) throw notAlone(alive[0]);
      await delay(READ_EVERY_MS);
    }
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function notAlone(worker: string): SettingsError {
  const problem = `is missing: ${worker} works on the same database, and processes need Redis to share limits and work`;
  return new SettingsError([{ variable: "REDIS_URL", problem }]);
}
