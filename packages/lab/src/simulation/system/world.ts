import type { Logger } from "@planwright/runtime";
import {
  type MemoryDatabase,
  type Reach,
  type ReachOperation,
  UnreachableError,
} from "@planwright/store/memory";
import type { Random } from "../../random/random.ts";
import type { Checker } from "../checker/checker.ts";
import type { Mutant } from "../mutant.ts";
import type { Actor, EventLog, Faults, SimulatedProcess, Timeline } from "../world/processes.ts";
import type { WorldSettings } from "../world/settings.ts";

/** The parts that the whole world of one seed shares. */
export interface World {
  settings: WorldSettings;
  timeline: Timeline;
  log: EventLog;
  /** The root of all random streams. */
  random: Random;
  database: MemoryDatabase;
  /** The logger of the executors. */
  logger: Logger;
  checker: Checker;
  faults: Faults;
  /** The planted fault, if any. */
  mutant: Mutant | undefined;
  /** Set while an operation is applied to the database. */
  actor: Actor | null;
}

/** The longest delay of a late write, in milliseconds. */
const MAX_LATE_MS = 10_000;

/**
 * The network between a process and the database. It is slow and loses requests and answers, and the process
 * may die before or after an operation.
 */
export function createReach(world: World, process: SimulatedProcess): Reach {
  const { settings, timeline, faults, log } = world;
  const { perOperation, deadAfterMs } = settings;
  const random = world.random.stream(`network of ${process.name}`);

  function draw(probability: number): boolean {
    return faults.isChaos() && random.chance(probability);
  }

  /** A few milliseconds; sometimes more, and rarely longer than an executor may be without heartbeats. */
  function travelMs(): number {
    const usual = random.whole(1, 4);
    if (!draw(perOperation.slow)) return usual;
    const ms = random.whole(20, random.chance(0.1) ? Math.round(deadAfterMs * 1.3) : 800);
    faults.note(timeline.now() + ms);
    return ms;
  }

  function failToReach(name: string, reject: (error: Error) => void): void {
    const error = new UnreachableError(`no answer to ${name}`);
    const at = timeline.now() + random.whole(1, 400);
    faults.note(at);
    process.deliver(at, () => reject(error));
  }

  /**
   * A delayed copy of a write arrives after the sender has repeated it and sent other writes. Its answer is
   * lost.
   */
  function arriveLate({ name, write, apply }: ReachOperation<unknown>): void {
    const at = timeline.now() + random.whole(1, random.chance(0.8) ? 1_500 : MAX_LATE_MS);
    timeline.at(at, () => {
      if (faults.isOutage()) return;
      log.note(process.name, name, "arrives late");
      world.actor = { process, name, write };
      void apply();
      world.actor = null;
    });
  }

  return ({ name, write, apply }) =>
    new Promise((resolve, reject) => {
      if (!process.isAlive() || !faults.survives(process, `before ${name}`)) return;
      if (draw(perOperation.lostRequest)) {
        log.note(process.name, name, "is lost on its way");
        if (write && draw(perOperation.stale)) arriveLate({ name, write, apply });
        return failToReach(name, reject);
      }
      timeline.at(timeline.now() + travelMs(), () => {
        if (faults.isOutage()) return failToReach(name, reject);
        world.actor = { process, name, write };
        const answer = (settle: () => void): void => {
          world.actor = null;
          if (process.isAlive() && !faults.survives(process, `after ${name}`)) return;
          if (draw(perOperation.lostAnswer)) {
            log.note(process.name, "receives no answer to", name);
            return failToReach(name, reject);
          }
          process.deliver(timeline.now() + travelMs(), settle);
        };
        try {
          const result = apply();
          if (result instanceof Promise) {
            result.then(
              (value) => answer(() => resolve(value)),
              (error: unknown) => answer(() => reject(error)),
            );
          } else answer(() => resolve(result));
        } catch (error) {
          answer(() => reject(error));
        }
      });
    });
}

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
