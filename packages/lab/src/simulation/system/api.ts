import { createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { createProcess, type SimulatedProcess } from "../world/simulated-process.ts";
import { createReach } from "./network.ts";
import type { World } from "./world.ts";

/** How long a client waits for an answer, in milliseconds. */
const CLIENT_TIMEOUT_MS = 5_000;

/** The API for clients and operators: one process, which is restarted when it dies. */
export interface Api {
  /**
   * Sends an operation to the API. Rejects when no answer comes in time; the API may have executed the
   * operation.
   */
  ask<T>(operation: (store: MemoryStore) => Promise<T>): Promise<T>;
  /** The current process; null while the API is down. */
  process(): SimulatedProcess | null;
}

/** The API did not answer in time, or refused the connection. */
export class NoAnswerError extends TypeError {}

/** Starts the API. */
export function startApi(world: World): Api {
  const { settings, timeline, faults } = world;
  const random = world.random.stream("api");
  const clocks = world.random.stream("clock of the api");
  let current: { process: SimulatedProcess; store: MemoryStore } | null = null;

  function start(life: number): void {
    const name = `api.${life}`;
    const process = createProcess(name, {
      timeline,
      random: world.random.stream(name),
      wallOffsetMs: Math.round((clocks.next() * 2 - 1) * settings.wallOffsetMs),
      onDeath() {
        current = null;
        const at = timeline.now() + random.whole(50, 2_000);
        faults.note(at);
        timeline.at(at, () => start(life + 1));
      },
    });
    const direct = createReach(world, process);
    const reach = world.mutant?.clientReach?.(direct) ?? direct;
    const store = createMemoryStore({
      database: world.database,
      owner: name,
      retryForMs: settings.retryForMs,
      reach,
      monotonic: () => process.clock.now(),
      wall: () => process.wall(),
      sleep: (ms) => process.sleep(ms),
      randomBytes: (bytes) => bytes.forEach((_, index) => (bytes[index] = random.whole(0, 255))),
    });
    current = {
      process,
      store: world.mutant?.clientStore?.(store, { database: world.database, reach }) ?? store,
    };
  }

  start(0);
  return {
    process: () => current?.process ?? null,
    ask: (operation) =>
      new Promise((resolve, reject) => {
        const cancelTimeout = timeline.at(timeline.now() + CLIENT_TIMEOUT_MS, () =>
          reject(new NoAnswerError("no answer")),
        );
        // An API that is down refuses the connection after a short time.
        if (!current)
          return void timeline.at(timeline.now() + 100, () => reject(new NoAnswerError("refused")));
        operation(current.store).then(resolve, reject).finally(cancelTimeout);
      }),
  };
}
