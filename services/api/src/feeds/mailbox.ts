import { createWaitingReader } from "./waiting-reader.ts";

/** Holds the newest value for one reader: a slow reader skips values, and no writer waits for it. */
export interface Mailbox<T> extends AsyncIterableIterator<T> {
  /** Replaces the unread value. */
  put(value: T): void;
  /** Ends the values; an unread one is still delivered. */
  end(): void;
  /** Gives the error to the reader after the unread value. */
  fail(error: unknown): void;
}

/** @param onClose - called once: the reader has read everything, or has left */
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
