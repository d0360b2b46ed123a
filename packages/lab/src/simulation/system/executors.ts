import type { Random } from "../../random/random.ts";
import { createProcess } from "../world/simulated-process.ts";
import { type ExecutorProcess, startExecutor } from "./executor-process.ts";
import type { SimulatedTools } from "./simulated-tools.ts";
import type { World } from "./world.ts";

/** All executors of a world; a dead one is restarted. */
export interface Executors {
  /** A random living executor; null when there is none. */
  any(random: Random): ExecutorProcess | null;
}

/** Starts the number of executors in the settings. */
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
        // While faults may begin, an executor may stay down for long; later a supervisor restarts it soon.
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
