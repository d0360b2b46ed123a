import type { StepRun } from "@planwright/engine";
import { hasRequestEnded, needsPerson, planNeed, REQUEST_LIFECYCLE, type RequestId } from "@planwright/plan";
import type { ChangedRequest, ClientStore, PlanHead, RequestDocument } from "@planwright/store";

/** A request with its current plan and steps at one time; large parts are read only if they are selected. */
export interface RequestSnapshot {
  request: RequestDocument;
  plan: PlanHead | null;
  steps: StepRun[];
}

/** Dependencies of {@link createRequestFeed}. */
interface RequestFeedDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads" | "listStepHeads">;
  tenant: string;
  requestId: RequestId;
  /** Called when the last reader has left. */
  onIdle(): void;
}

/** The states of one request, read once for all its readers. */
export interface RequestFeed {
  /**
   * The current state first, then each newer one; ends after the last.
   * @param onLeave - called once: the reader has read everything, or has left
   */
  follow(onLeave: () => void): AsyncIterableIterator<RequestSnapshot>;
  /** True for the id of this request, or of its current plan; and for every id during the first read. */
  concerns(id: string): boolean;
  /** Reads the state again: it has changed. */
  refresh(): void;
  /** Ends the feed for all readers. */
  end(): void;
}

/** A request is read at most once in this time, in milliseconds. */
const READ_EVERY_MS = 25;
/**
 * The pause between two reads, as a multiple of the duration of the last one: large plans change faster than
 * they can be read.
 */
const PAUSE_FACTOR = 2;

/** A feed without readers. */
export function createRequestFeed(dependencies: RequestFeedDependencies): RequestFeed {
  const { store, tenant, requestId } = dependencies;
  /** Each reader with the mark of the state that it was given last; undefined: none yet. */
  const readers = new Map<Mailbox<RequestSnapshot>, string | undefined>();
  /** The current plan, as soon as it is known which one that is: its documents are read after that. */
  let planId: string | undefined;
  let isDirty = false;
  let isReading = false;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<RequestSnapshot | null> {
    const request = await store.getRequest(tenant, requestId);
    if (!request) return null;
    planId = request.planId;
    // Read after the request: the plan of an ended request has ended.
    const [[plan = null], steps] = await Promise.all([
      store.getPlanHeads(tenant, [request.planId]),
      store.listStepHeads(tenant, [request.planId]),
    ]);
    return { request, plan, steps };
  }

  async function readAll(): Promise<void> {
    isDirty = false;
    isReading = true;
    const startedAt = performance.now();
    // A reader that comes later may have seen a newer state elsewhere: it is given what is read after it came.
    const present = [...readers.keys()];
    try {
      const snapshot = await read();
      if (snapshot) publish(snapshot, present);
      // It was removed: nothing would ever end the wait for its next state.
      else for (const reader of present) reader.end();
    } catch (error) {
      for (const reader of present) reader.fail(error);
    } finally {
      const pauseMs = Math.max(READ_EVERY_MS, (performance.now() - startedAt) * PAUSE_FACTOR);
      timer = setTimeout(() => {
        isReading = false;
        if (isDirty && readers.size > 0) void readAll();
      }, pauseMs);
    }
  }

  function publish(snapshot: RequestSnapshot, present: readonly Mailbox<RequestSnapshot>[]): void {
    const mark = markOf(snapshot);
    for (const reader of present) {
      if (!readers.has(reader)) continue;
      if (readers.get(reader) !== mark) reader.put(snapshot);
      readers.set(reader, mark);
      if (hasEnded(snapshot.request)) reader.end();
    }
  }

  function refresh(): void {
    isDirty = true;
    if (!isReading && readers.size > 0) void readAll();
  }

  return {
    follow(onLeave) {
      const reader = createMailbox<RequestSnapshot>(() => {
        readers.delete(reader);
        onLeave();
        if (readers.size > 0) return;
        clearTimeout(timer);
        dependencies.onIdle();
      });
      readers.set(reader, undefined);
      refresh();
      return reader;
    },
    // Which plan it has is not known during the first read: a change may be of its plan.
    concerns: (id) => id === requestId || (planId === undefined ? isReading : id === planId),
    refresh,
    end() {
      for (const reader of readers.keys()) reader.end();
    },
  };
}

/** Differs for two states: every write changes its document, and every journal entry changes steps. */
function markOf({ request, plan, steps }: RequestSnapshot): string {
  const units = steps.map(({ seq }) => seq);
  return JSON.stringify([request, plan && [plan.writeId, plan.status, plan.updatedAt], units]);
}

/** Holds the newest value for one reader: a slow reader skips values, and no writer waits for it. */
interface Mailbox<T> extends AsyncIterableIterator<T> {
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

/** True when a request has ended, and no work of planners remains. */
function hasEnded({ status, dueAt, lease }: Pick<RequestDocument, "status" | "dueAt" | "lease">): boolean {
  return hasRequestEnded(status) && dueAt === null && lease === null;
}

/** True when a request has ended, or waits for a client or operator. */
export function isAtRest({ request, plan }: Pick<RequestSnapshot, "request" | "plan">): boolean {
  if (hasEnded(request) || needsPerson(REQUEST_LIFECYCLE[request.status].needs)) return true;
  const need = plan === null ? "nothing" : planNeed(plan);
  // A READY plan whose request is not READY is being queued.
  return need !== "start" && needsPerson(need);
}

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
function createWaitingReader<T>(source: ReaderSource<T>, onClose: () => void): WaitingReader<T> {
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
