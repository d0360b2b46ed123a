import type { RequestId } from "@planwright/plan";
import type { ChangedRequest } from "@planwright/store";

/** One event for a reader of a list. */
export type RequestChange =
  /** From now on the reader gets every change; a list that it read before may be old. */
  | { kind: "READ_LIST" }
  /** The request is new or has changed, and is in the list. */
  | { kind: "CHANGED"; requestId: RequestId; changed: ChangedRequest }
  /** The request is no longer in the list. */
  | { kind: "LEFT"; requestId: RequestId };

/** Holds unread events of one reader of a list: for each request only the newest. */
export interface ChangeBox extends AsyncIterableIterator<RequestChange> {
  /** Replaces an unread event of the same request. */
  put(change: Exclude<RequestChange, { kind: "READ_LIST" }>): void;
  /** Replaces all unread events. */
  readList(): void;
  /** Ends the events; unread ones are still delivered. */
  end(): void;
}

/** Most requests with unread events. Above it the reader reads the list again, which is less work. */
export const MAX_UNREAD = 1_000;

/**
 * A box whose first event is READ_LIST.
 * @param onReadList - called when the reader must read the list again: it is too slow, or `readList` was
 * called
 * @param onClose - called once: the reader has read everything, or has left
 */
export function createChangeBox(onReadList: () => void, onClose: () => void): ChangeBox {
  const unread = new Map<RequestId, RequestChange>();
  let isListUnread = true;

  function take(): { value: RequestChange } | undefined {
    if (isListUnread) {
      isListUnread = false;
      return { value: { kind: "READ_LIST" } };
    }
    const [first] = unread;
    if (!first) return undefined;
    const [requestId, value] = first;
    unread.delete(requestId);
    return { value };
  }

  const reader = createWaitingReader<RequestChange>({ take, clear: () => unread.clear() }, onClose);

  function readList(): void {
    if (!reader.isOpen()) return;
    unread.clear();
    isListUnread = true;
    onReadList();
    reader.wake();
  }

  return Object.assign(reader, {
    put(change: Exclude<RequestChange, { kind: "READ_LIST" }>) {
      if (!reader.isOpen()) return;
      unread.set(change.requestId, change);
      if (unread.size > MAX_UNREAD) readList();
      reader.wake();
    },
    readList,
  });
}

/** The source of a reader's values. */
interface ReaderSource<T> {
  /** The next value; undefined while there is none. */
  take(): { value: T } | undefined;
  /** Drops unread values: the reader has left. */
  clear(): void;
  /** Called when the reader has read everything. @throws the error that ends the reader */
  ended?: (() => void) | undefined;
}

/** A reader that waits for its next value. */
interface WaitingReader<T> extends AsyncIterableIterator<T> {
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
