import type { EventEmitter } from "node:events";

/** The calls under way, so that their waiting can be ended. */
export interface OpenCalls {
  /** A signal that is aborted when the response closes, or when everything is to end. */
  begin(response: EventEmitter): AbortSignal;
  /** Ends the waiting of all calls, and of those that still come. */
  endAll(): void;
}

/**
 * Calls are held here by themselves, not chained to one long-lived signal: such a signal would keep a trace of every
 * call ever made.
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
