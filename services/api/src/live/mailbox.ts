/** Holds the newest value for one reader: a slow reader is given fewer values, never old ones, and no writer waits for it. */
export interface Mailbox<T> extends AsyncIterableIterator<T> {
  /** Replaces what was not read yet. */
  put(value: T): void;
  /** No value follows; what was put before is still read. */
  end(): void;
  /** The reader hears of the error after what was put before. */
  fail(error: unknown): void;
}

/**
 * Not a generator: one that waits for its next value does not hear that its reader has gone.
 * @param onClose - called once: the reader has everything, or wants no more
 */
export function createMailbox<T>(onClose: () => void): Mailbox<T> {
  let slot: { value: T } | undefined;
  let failure: { error: unknown } | undefined;
  let isEnded = false;
  let isClosed = false;
  let wake: (() => void) | undefined;

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    slot = undefined;
    wake?.();
    onClose();
  }

  const mailbox: Mailbox<T> = {
    put(value) {
      if (isEnded || isClosed) return;
      slot = { value };
      wake?.();
    },
    end() {
      isEnded = true;
      wake?.();
    },
    fail(error) {
      failure ??= { error };
      mailbox.end();
    },
    async next() {
      for (;;) {
        if (isClosed) return { done: true, value: undefined };
        if (slot) {
          const { value } = slot;
          slot = undefined;
          return { done: false, value };
        }
        if (isEnded) {
          close();
          if (failure) throw failure.error;
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
    [Symbol.asyncIterator]: () => mailbox,
  };
  return mailbox;
}
