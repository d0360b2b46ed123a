import type { RequestId } from "@planwright/plan";
import type { ChangedRequest } from "@planwright/store";
import { createWaitingReader } from "./waiting-reader.ts";

/** What a reader of a list is told. */
export type RequestChange =
  /** From here on it hears of each change: what it has read of the list before may be old. */
  | { kind: "READ_LIST" }
  /** The request is new or has changed, and the list holds it. */
  | { kind: "CHANGED"; requestId: RequestId; changed: ChangedRequest }
  /** The list does not hold it any more. */
  | { kind: "LEFT"; requestId: RequestId };

/** Holds what one reader of a list has not read yet: of each request the newest alone. */
export interface ChangeBox extends AsyncIterableIterator<RequestChange> {
  /** Stands in the place of what was not read yet of the same request. */
  put(change: Exclude<RequestChange, { kind: "READ_LIST" }>): void;
  /** In the place of everything that was not read yet. */
  readList(): void;
  /** Nothing follows; what was put before is still read. */
  end(): void;
}

/** Requests of which a reader has not read, at most: beyond that it reads the list again, which is less. */
export const MAX_UNREAD = 1_000;

/**
 * A box with the first word for its reader: to read the list.
 * @param onReadList - called when the reader is told to read the list, because it is too slow or the caller says so
 * @param onClose - called once: the reader has everything, or wants no more
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
