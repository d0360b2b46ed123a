import { createWaitingReader } from "./waiting-reader.ts";

/** Holds the newest value for one reader: a slow reader is given fewer values, never old ones, and no writer waits for it. */
export interface Mailbox<T> extends AsyncIterableIterator<T> {
  /** Replaces what was not read yet. */
  put(value: T): void;
  /** No value follows; what was put before is still read. */
  end(): void;
  /** The reader hears of the error after what was put before. */
  fail(error: unknown): void;
}

/** @param onClose - called once: the reader has everything, or wants no more */
export function createMailbox<T>(onClose: () => void): Mailbox<T> {
  let slot: { value: T } | undefined;
  let failure: { error: unknown } | undefined;
  const reader = createWaitingReader<T>(
    {
      take() {
        const taken = slot;
        slot = undefined;
        return taken;
      },
      clear() {
        slot = undefined;
      },
      ended() {
        if (failure) throw failure.error;
      },
    },
    onClose,
  );
  return Object.assign(reader, {
    put(value: T) {
      if (!reader.isOpen()) return;
      slot = { value };
      reader.wake();
    },
    fail(error: unknown) {
      failure ??= { error };
      reader.end();
    },
  });
}
