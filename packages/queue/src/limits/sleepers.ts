/** The callers that wait in this process, by ticket. */
export interface Sleepers {
  /** Registers the ticket: from now on a wake is remembered. */
  begin(ticket: string): void;
  end(ticket: string): void;
  /**
   * Resolves after `ms`, when the ticket is woken or was woken since the last sleep, or when the signal is
   * aborted.
   */
  sleep(ticket: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Wakes a ticket. A ticket without a caller here belongs to another process. */
  wake(ticket: string): void;
}

interface Sleeper {
  isCalled: boolean;
  rouse: (() => void) | undefined;
}

/** Starts without waiting callers. */
export function createSleepers(): Sleepers {
  const sleepers = new Map<string, Sleeper>();
  return {
    begin: (ticket) => void sleepers.set(ticket, { isCalled: false, rouse: undefined }),
    end: (ticket) => void sleepers.delete(ticket),
    async sleep(ticket, ms, signal) {
      const sleeper = sleepers.get(ticket);
      if (signal.aborted || sleeper?.isCalled) {
        if (sleeper) sleeper.isCalled = false;
        return;
      }
      await new Promise<void>((resolve) => {
        const rouse = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", rouse);
          if (sleeper) sleeper.rouse = undefined;
          resolve();
        };
        const timer = setTimeout(rouse, ms);
        signal.addEventListener("abort", rouse, { once: true });
        if (sleeper) sleeper.rouse = rouse;
      });
    },
    wake(ticket) {
      const sleeper = sleepers.get(ticket);
      if (sleeper?.rouse) sleeper.rouse();
      else if (sleeper) sleeper.isCalled = true;
    },
  };
}
