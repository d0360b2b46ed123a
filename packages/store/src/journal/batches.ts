/** Options of {@link createBatches}. */
export interface BatchesOptions<Item> {
  /** Sends a batch and settles every item in it; never rejects. */
  send: (batch: readonly Item[]) => Promise<void>;
  /**
   * Calls a function one turn of the event loop later: items that are added in the same turn share a batch.
   * Default `setImmediate`.
   */
  soon?: ((happen: () => void) => void) | undefined;
}

/** Maximum number of items in one batch. */
export const MAX_BATCH = 1_000;
/** Maximum number of batches in flight. */
const MAX_IN_FLIGHT = 2;

/** Batches in the order in which their items were added. At most two are in flight. */
export function createBatches<Item>({
  send,
  soon = (happen) => void setImmediate(happen),
}: BatchesOptions<Item>) {
  let waiting: Item[] = [];
  let waitingForIdle: (() => void)[] = [];
  let inFlight = 0;
  let isAboutToSend = false;

  function sendSoon(): void {
    if (isAboutToSend) return;
    isAboutToSend = true;
    soon(() => {
      isAboutToSend = false;
      while (inFlight < MAX_IN_FLIGHT && waiting.length > 0) {
        const batch = waiting.slice(0, MAX_BATCH);
        waiting = waiting.slice(MAX_BATCH);
        inFlight += 1;
        void send(batch).finally(() => {
          inFlight -= 1;
          sendSoon();
        });
      }
      if (waiting.length > 0 || inFlight > 0) return;
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    });
  }

  return {
    add(item: Item) {
      waiting.push(item);
      sendSoon();
    },
    /** Resolves when nothing is waiting or in flight. */
    idle: () =>
      new Promise<void>((resolve) => {
        waitingForIdle.push(resolve);
        sendSoon();
      }),
  };
}
