import { type OnError, reportOnce } from "../redis/report-once.ts";

/** What a sweeper looks for, and how often. */
export interface SweeperOptions {
  /** Pause between two looks, in milliseconds; each is drawn from 0.5 to 1.5 times that, so that processes spread out. */
  everyMs: number;
  /** Ids of work that no worker does, from MongoDB; at most `limit`. */
  find: (limit: number) => Promise<readonly string[]>;
  /** How much this process could take on now; at 0 it does not look. */
  capacity: () => number;
  /** Takes one on; ids still under way here are not handed over again. A rejection is reported, the next look tries again. */
  handle: (id: string) => Promise<void>;
  /** Hears of trouble, the same words once in 10 s. */
  onError: OnError;
  /** Uniform in [0, 1); default Math.random. */
  random?: () => number;
}

/** A sweeper at work. */
export interface Sweeper {
  /** Ends the looking; resolves when no look is under way. What was handed over goes on. */
  stop(): Promise<void>;
}

/**
 * Finds the work that the queue lost, again and again: the reason why Redis may lose everything at any time.
 * One look at a time; the first one at once. A failed look is reported and the next one comes as usual.
 */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { everyMs, find, capacity, handle, random = Math.random } = options;
  const report = reportOnce(options.onError);
  const underWay = new Set<string>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = look();

  async function look(): Promise<void> {
    try {
      const limit = capacity();
      if (limit > 0) for (const id of await find(limit)) begin(id);
    } catch (error) {
      report(error);
    }
    if (isStopped) return;
    timer = setTimeout(
      () => {
        looking = look();
      },
      everyMs * (0.5 + random()),
    );
  }

  function begin(id: string): void {
    if (isStopped || underWay.has(id) || capacity() <= 0) return;
    underWay.add(id);
    void Promise.resolve(id)
      .then(handle)
      .catch((error: unknown) => report(error, id))
      .finally(() => underWay.delete(id));
  }

  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
