/** Settings of {@link createSweeper}. */
export interface SweeperOptions {
  /** Pause between sweeps, in milliseconds; each is varied by a fifth so that processes do not sweep together. */
  everyMs: number;
  /** Ids that are due and that nobody holds, oldest first. */
  find: (limit: number) => Promise<string[]>;
  /** Ids that could be taken on now. */
  capacity: () => number;
  handle: (id: string) => Promise<void>;
  onError: (error: Error) => void;
}

/** Finds what the queue lost. */
export interface Sweeper {
  /** Resolves when no sweep is under way. */
  stop(): Promise<void>;
}

/** Sweeps until stopped; one sweep at a time, each as large as there is capacity. */
export function createSweeper({ everyMs, find, capacity, handle, onError }: SweeperOptions): Sweeper {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    const limit = capacity();
    if (limit === 0) return;
    try {
      const ids = await find(limit);
      const handled = await Promise.allSettled(ids.map((id) => handle(id)));
      for (const result of handled) if (result.status === "rejected") onError(asError(result.reason));
    } catch (error) {
      onError(asError(error));
    }
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(
      () => {
        underWay = sweep().then(schedule);
      },
      everyMs * (0.9 + Math.random() * 0.2),
    );
  }

  schedule();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new TypeError(String(reason));
}
