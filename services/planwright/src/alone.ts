import { setTimeout as delay } from "node:timers/promises";
import { SettingsError, workerAddressKey } from "@planwright/runtime";
import { createStore, type Store, type StoreOptions } from "@planwright/store";

/** How often heartbeats of other workers are read while it is not known whether they live, in milliseconds. */
const READ_EVERY_MS = 100;

/**
 * Opens the store of a process that works alone. Workers that have not stopped may be those of an earlier process
 * that was killed: if they listened where this process will listen, they are; otherwise it waits until they send a
 * heartbeat, or count as dead.
 * @param address - where the health of this process is served; port 0: any
 * @throws {SettingsError} when another process works on the same database
 */
export async function createStoreAlone(
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
