import type { World } from "./world.ts";

/** Jobs that name a plan to look at, as Redis keeps them: any of them may be lost. */
export interface JobQueue {
  offer(planId: string): void;
  /** FLUSHALL. */
  flush(): void;
}

/** A queue that loses, duplicates, delays and reorders jobs. `work` passes a job to a worker. */
export function createJobQueue(world: World, work: (planId: string) => void): JobQueue {
  const { settings, timeline, log } = world;
  const { lost, doubled, maxDelayMs } = settings.queue;
  const random = world.random.stream("queue");
  let waiting = new Set<() => void>();

  function enqueue(planId: string): void {
    const takeBack = timeline.at(timeline.now() + random.whole(1, maxDelayMs), () => {
      waiting.delete(takeBack);
      work(planId);
    });
    waiting.add(takeBack);
  }

  return {
    offer(planId) {
      const isLost = random.chance(lost);
      const isDoubled = random.chance(doubled);
      if (!isLost) enqueue(planId);
      if (isDoubled && !isLost) enqueue(planId);
    },
    flush() {
      log.note("FLUSHALL of", waiting.size, "jobs");
      for (const takeBack of waiting) takeBack();
      waiting = new Set();
    },
  };
}
