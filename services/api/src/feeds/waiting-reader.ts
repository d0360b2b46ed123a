/** The source of a reader's values. */
export interface ReaderSource<T> {
  /** The next value; undefined while there is none. */
  take(): { value: T } | undefined;
  /** Drops unread values: the reader has left. */
  clear(): void;
  /** Called when the reader has read everything. @throws the error that ends the reader */
  ended?: (() => void) | undefined;
}

/** A reader that waits for its next value. */
export interface WaitingReader<T> extends AsyncIterableIterator<T> {
  /** False after the end, or after the reader has left. */
  isOpen(): boolean;
  /** Makes the reader look for a value. */
  wake(): void;
  /** Ends the values; unread ones are still delivered. */
  end(): void;
}

/**
 * One reader of a source. Not a generator: a generator that waits for its next value is not notified when its
 * reader leaves.
 * @param onClose - called once: the reader has read everything, or has left
 */
export function createWaitingReader<T>(source: ReaderSource<T>, onClose: () => void): WaitingReader<T> {
  let isEnded = false;
  let isClosed = false;
  let wake: (() => void) | undefined;

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    source.clear();
    wake?.();
    onClose();
  }

  const reader: WaitingReader<T> = {
    isOpen: () => !isEnded && !isClosed,
    wake: () => wake?.(),
    end() {
      isEnded = true;
      wake?.();
    },
    async next() {
      for (;;) {
        if (isClosed) return { done: true, value: undefined };
        const taken = source.take();
        if (taken) return { done: false, value: taken.value };
        if (isEnded) {
          close();
          source.ended?.();
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async return() {
      close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => reader,
  };
  return reader;
}
