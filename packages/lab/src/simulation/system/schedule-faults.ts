import type { Api } from "./api.ts";
import type { Executors } from "./executors.ts";
import type { JobQueue } from "./job-queue.ts";
import type { World } from "./world.ts";

const HOUR_MS = 3_600_000;

/** The targets of faults. */
export interface Victims {
  executors: Executors;
  api: Api;
  queue: JobQueue;
}

/** Schedules the number of faults in the settings, at random times while faults may begin. */
export function scheduleFaults(world: World, { executors, api, queue }: Victims): void {
  const { settings, timeline, faults } = world;
  const random = world.random.stream("schedule of faults");
  const repeat = (count: number, happen: () => void): void => {
    for (let index = 0; index < count; index++) timeline.at(random.whole(1, settings.chaosMs), happen);
  };
  repeat(settings.crashes, () => {
    const victim = executors.any(random);
    if (victim) faults.kill(victim.process, "out of nowhere");
  });
  repeat(settings.apiCrashes, () => {
    const victim = api.process();
    if (victim) faults.kill(victim, "out of nowhere");
  });
  repeat(settings.freezes, () => {
    const victim = executors.any(random);
    if (victim) faults.freeze(victim.process, "out of nowhere");
  });
  repeat(settings.terminations, () => executors.any(random)?.terminate());
  repeat(settings.outages, () => faults.beginOutage(timeline.now() + random.whole(100, 15_000)));
  repeat(settings.flushes, () => queue.flush());
  // Jumps do not extend the time of faults and are not logged: nothing may depend on these clocks.
  const clocks = world.random.stream("clocks that jump");
  for (let index = 0; index < settings.clockJumps; index++) {
    timeline.at(clocks.whole(1, settings.chaosMs), () => {
      const byMs = clocks.chance(0.5) ? HOUR_MS : -HOUR_MS;
      executors.any(clocks)?.process.jumpWall(byMs);
    });
  }
}
