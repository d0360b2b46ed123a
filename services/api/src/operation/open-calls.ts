import type { EventEmitter } from "node:events";

/** The running calls, so that their waits can be ended. */
export interface OpenCalls {
  /** A signal that is aborted when the response closes, or when all calls end. */
  begin(response: EventEmitter): AbortSignal;
  /** Ends the waiting of all current and later calls. */
  endAll(): void;
}

/**
 * Each call has its own controller. Signals that are chained to one long-lived signal would stay in memory
 * after their call.
 */
export function createOpenCalls(): OpenCalls {
  const open = new Set<AbortController>();
  let isEnding = false;
  return {
    begin(response) {
      const call = new AbortController();
      if (isEnding) call.abort();
      open.add(call);
      response.once("close", () => {
        open.delete(call);
        call.abort();
      });
      return call.signal;
    },
    endAll() {
      isEnding = true;
      for (const call of open) call.abort();
    },
  };
}
