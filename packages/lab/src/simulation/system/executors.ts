import type { Random } from "../../random/random.ts";
import { createProcess } from "../world/simulated-process.ts";
import { type ExecutorProcess, startExecutor } from "./executor-process.ts";
import type { SimulatedTools } from "./simulated-tools.ts";
import type { World } from "./world.ts";

/** All executors of a world; those that die are started again. */
export interface Executors {
  /** One of those that live, by chance; null when there is none just now. */
  any(random: Random): ExecutorProcess | null;
}

/** Starts the executors that the settings ask for. */
export function startExecutors(world: World, tools: SimulatedTools): Executors {
  const { settings, timeline, faults } = world;
  const random = world.random.stream("executors");
  const clocks = world.random.stream("clocks");
  const lives: (ExecutorProcess | null)[] = [];

  function start(index: number, life: number): void {
    const name = `executor-${index}.${life}`;
    const process = createProcess(name, {
      timeline,
      random: world.random.stream(name),
      wallOffsetMs: Math.round((clocks.next() * 2 - 1) * settings.wallOffsetMs),
      onDeath() {
        lives[index] = null;
        // In the time of chaos an executor may stay away for long; later, as a supervisor starts it again.
        const at = timeline.now() + random.whole(50, faults.isChaos() ? 8_000 : 500);
        faults.note(at);
        timeline.at(at, () => start(index, life + 1));
      },
    });
    lives[index] = startExecutor(world, process, tools);
  }

  for (let index = 0; index < settings.executors; index++) start(index, 0);
  return {
    any(random) {
      const [first, ...rest] = lives.flatMap((life) => life ?? []);
      return first ? random.pick([first, ...rest]) : null;
    },
  };
}
