/** What a reader takes its values from. */
export interface ReaderSource<T> {
  /** The next value; undefined while there is none. */
  take(): { value: T } | undefined;
  /** Forgets what was not read: the reader wants no more. */
  clear(): void;
  /** Called when the reader has everything. @throws what the reader is to hear at the end */
  ended?: (() => void) | undefined;
}

/** A reader that waits for its next value. */
export interface WaitingReader<T> extends AsyncIterableIterator<T> {
  /** False once nothing more is to be put for it. */
  isOpen(): boolean;
  /** There may be a value now. */
  wake(): void;
  /** Nothing follows; what is there is still read. */
  end(): void;
}

/**
 * One reader of a source that others fill. Not a generator: one that waits for its next value does not hear that its reader has gone.
 * @param onClose - called once: the reader has everything, or wants no more
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
