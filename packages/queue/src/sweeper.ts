import { type OnError, reportOnce } from "./connection.ts";
import type { Handle, Slots } from "./queue-worker.ts";

/** Work in MongoDB that no worker does. */
export interface DueWork {
  id: string;
  tenant: string;
}

/** Settings of {@link createSweeper}. */
export interface SweeperOptions {
  /**
   * Average pause between two looks, in milliseconds. Each pause is random, from 0.5 to 1.5 times that, so
   * that processes spread out.
   */
  everyMs: number;
  /**
   * Work in MongoDB that no worker does, at most `limit`, in turns over the tenants. @param full - tenants to
   * leave out
   */
  find: (limit: number, full: readonly string[]) => Promise<readonly DueWork[]>;
  /** The slots of this process; without a free one it does not look. */
  slots: Pick<Slots, "free" | "full" | "take" | "enter">;
  /**
   * An id that is in progress here is not passed again. A rejection is reported, and the next look tries again.
   */
  handle: Handle;
  /** Called for errors, the same message once in 10 s. */
  onError: OnError;
  /** Uniform in [0, 1); default Math.random. */
  random?: () => number;
}

/** A running sweeper. */
export interface Sweeper {
  /** Looks at once, or right after the look in progress: there is work that was not due before. */
  lookNow(): void;
  /** Stops looking; resolves when no look is in progress. Work that was started continues. */
  stop(): Promise<void>;
}

/**
 * Finds the work that the queue lost, at an interval: because of this, Redis may lose everything at any time.
 * One look at a time, the first one at once. A failed look is reported, and the next one follows as usual.
 */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { everyMs, find, slots, handle, random = Math.random } = options;
  const report = reportOnce(options.onError);
  const inProgress = new Set<string>();
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let isLookAsked = false;
  /** Ends the wait until further work may begin. */
  let endWait = (): void => undefined;
  let looking = look();

  async function look(): Promise<void> {
    timer = undefined;
    isLookAsked = false;
    try {
      const limit = slots.free();
      if (limit > 0) for (const due of await find(limit, slots.full())) await begin(due);
    } catch (error) {
      report(error);
    }
    if (isStopped) return;
    timer = setTimeout(lookAgain, isLookAsked ? 0 : everyMs * (0.5 + random()));
  }

  function lookAgain(): void {
    looking = look();
  }

  /**
   * Waits until further work may begin; null when the sweeper is stopped meanwhile. What is in its beginning may
   * last until the process hands over its work, which comes after the stop.
   */
  async function enter(): Promise<(() => void) | null> {
    const entering = slots.enter();
    const begun = await new Promise<(() => void) | null>((resolve) => {
      endWait = () => resolve(null);
      void entering.then(resolve);
    });
    if (!begun) void entering.then((leave) => leave());
    return begun;
  }

  /** Resolves when it is in its beginning. */
  async function begin({ id, tenant }: DueWork): Promise<void> {
    if (isStopped || inProgress.has(id)) return;
    const begun = await enter();
    if (!begun) return;
    const release = isStopped ? null : slots.take(tenant);
    if (!release) return begun();
    inProgress.add(id);
    void Promise.resolve()
      .then(() => handle(id, tenant, begun))
      .catch((error: unknown) => report(error, id))
      .finally(() => {
        inProgress.delete(id);
        begun();
        release();
      });
  }

  return {
    lookNow() {
      isLookAsked = true;
      if (isStopped || timer === undefined) return;
      clearTimeout(timer);
      lookAgain();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      endWait();
      await looking;
    },
  };
}
