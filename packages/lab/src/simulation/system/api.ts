import { createMemoryStore, type MemoryStore } from "@planwright/store/memory";
import { createProcess, type SimulatedProcess } from "../world/simulated-process.ts";
import { createReach } from "./network.ts";
import type { World } from "./world.ts";

/** How long a client waits for an answer, in milliseconds. */
const PATIENCE_MS = 5_000;

/** The API as clients and operators reach it: one process, started again when it dies. */
export interface Api {
  /** Has the API do something. Rejects when no answer comes in time, whether or not it was done. */
  ask<T>(what: (store: MemoryStore) => Promise<T>): Promise<T>;
  /** Who it is just now; null while it is down. */
  process(): SimulatedProcess | null;
}

/** No answer came. */
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
    const reach = createReach(world, process);
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
    ask: (what) =>
      new Promise((resolve, reject) => {
        const giveUp = timeline.at(timeline.now() + PATIENCE_MS, () =>
          reject(new NoAnswerError("no answer")),
        );
        // One that is down refuses the connection, a little later.
        if (!current)
          return void timeline.at(timeline.now() + 100, () => reject(new NoAnswerError("refused")));
        what(current.store).then(resolve, reject).finally(giveUp);
      }),
  };
}
