import type { World } from "./world.ts";

/** Jobs that name plans, as Redis keeps them: each may be lost. */
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
    const cancel = timeline.at(timeline.now() + random.whole(1, maxDelayMs), () => {
      waiting.delete(cancel);
      work(planId);
    });
    waiting.add(cancel);
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
      for (const cancel of waiting) cancel();
      waiting = new Set();
    },
  };
}
