import { type OnError, reportOnce } from "../redis/report-once.ts";

/** Settings of {@link createSweeper}. */
export interface SweeperOptions {
  /**
   * Average pause between two looks, in milliseconds. Each pause is random, from 0.5 to 1.5 times that, so
   * that processes spread out.
   */
  everyMs: number;
  /** Ids in MongoDB of work that no worker does; at most `limit`. */
  find: (limit: number) => Promise<readonly string[]>;
  /** How many pieces of work this process could start now; at 0 it does not look. */
  capacity: () => number;
  /**
   * Starts one piece of work; an id that is still in progress here is not passed again. A rejection is
   * reported, and the next look tries again.
   */
  handle: (id: string) => Promise<void>;
  /** Called for errors, the same message once in 10 s. */
  onError: OnError;
  /** Uniform in [0, 1); default Math.random. */
  random?: () => number;
}

/** A running sweeper. */
export interface Sweeper {
  /** Stops looking; resolves when no look is in progress. Work that was started continues. */
  stop(): Promise<void>;
}

/**
 * Finds the work that the queue lost, at an interval: because of this, Redis may lose everything at any time.
 * One look at a time, the first one at once. A failed look is reported, and the next one follows as usual.
 */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { everyMs, find, capacity, handle, random = Math.random } = options;
  const report = reportOnce(options.onError);
  const inProgress = new Set<string>();
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
    if (isStopped || inProgress.has(id) || capacity() <= 0) return;
    inProgress.add(id);
    void Promise.resolve(id)
      .then(handle)
      .catch((error: unknown) => report(error, id))
      .finally(() => inProgress.delete(id));
  }

  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
