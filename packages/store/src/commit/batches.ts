/** Options of {@link createBatches}. */
export interface BatchesOptions<Item> {
  /** Sends a batch, and answers to everything in it; never rejects. */
  send: (batch: readonly Item[]) => Promise<void>;
  /** Items in one batch, at most. Default 1,000. */
  maxBatch?: number | undefined;
  /**
   * Has something happen a turn later, with which everything of the same turn shares a batch. Default
   * `setImmediate`.
   */
  soon?: ((happen: () => void) => void) | undefined;
}

/** Items that go out together: while batches are under way the next one collects. */
export interface Batches<Item> {
  add(item: Item): void;
  /** Resolves when nothing waits or is under way. */
  idle(): Promise<void>;
}

/** Batches under way at once, at most. */
const MAX_UNDER_WAY = 2;

/** Batches in the order in which their items were added; two of them at most are under way. */
export function createBatches<Item>({
  send,
  maxBatch = 1_000,
  soon = (happen) => void setImmediate(happen),
}: BatchesOptions<Item>): Batches<Item> {
  let waiting: Item[] = [];
  let waitingForIdle: (() => void)[] = [];
  let underWay = 0;
  let isAboutToSend = false;

  function sendSoon(): void {
    if (isAboutToSend) return;
    isAboutToSend = true;
    soon(() => {
      isAboutToSend = false;
      while (underWay < MAX_UNDER_WAY && waiting.length > 0) {
        const batch = waiting.slice(0, maxBatch);
        waiting = waiting.slice(maxBatch);
        underWay += 1;
        void send(batch).finally(() => {
          underWay -= 1;
          sendSoon();
        });
      }
      if (waiting.length > 0 || underWay > 0) return;
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    });
  }

  return {
    add(item) {
      waiting.push(item);
      sendSoon();
    },
    idle: () =>
      new Promise((resolve) => {
        waitingForIdle.push(resolve);
        sendSoon();
      }),
  };
}
