import type { RequestId } from "@planwright/plan";
import type { ClientStore, PlanHead, RequestDocument, StepHead } from "@planwright/store";
import { isOver } from "./is-over.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";

/** A request with its current plan, at one moment: what may be large is read by those who select it. */
export interface RequestSnapshot {
  request: RequestDocument;
  plan: PlanHead | null;
  steps: StepHead[];
}

/** What a feed needs. */
export interface RequestFeedDependencies {
  store: Pick<ClientStore, "getRequest" | "getPlanHeads" | "listStepHeads">;
  tenant: string;
  requestId: RequestId;
  /** Called when the last reader has gone. */
  onIdle(): void;
}

/** The states of one request, read once for all who follow it. */
export interface RequestFeed {
  /**
   * The current state first, then each newer one, and the end with the last.
   * @param onLeave - called once: the reader has read everything, or wants no more
   */
  follow(onLeave: () => void): AsyncIterableIterator<RequestSnapshot>;
  /** True when the id is this request's, or its current plan's. */
  concerns(id: string): boolean;
  /** Something of it changed. */
  refresh(): void;
  /** Ends everybody's reading. */
  end(): void;
}

/** A request is read at most this often, in milliseconds, however fast it changes. */
const READ_EVERY_MS = 25;
/** Times the last reading that is waited between two: large plans change faster than they can be read. */
const REST_FACTOR = 2;

/** A feed without readers. */
export function createRequestFeed(dependencies: RequestFeedDependencies): RequestFeed {
  const { store, tenant, requestId } = dependencies;
  const readers = new Set<Mailbox<RequestSnapshot>>();
  let last: { snapshot: RequestSnapshot; mark: string } | undefined;
  let isDirty = false;
  let isReading = false;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<RequestSnapshot | null> {
    const request = await store.getRequest(tenant, requestId);
    if (!request) return null;
    // After the request: one that is over has a plan that is over.
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
    try {
      const snapshot = await read();
      if (snapshot) publish(snapshot);
    } catch (error) {
      for (const reader of readers) reader.fail(error);
    } finally {
      const restMs = Math.max(READ_EVERY_MS, (performance.now() - startedAt) * REST_FACTOR);
      timer = setTimeout(() => {
        isReading = false;
        if (isDirty && readers.size > 0) void readAll();
      }, restMs);
    }
  }

  function publish(snapshot: RequestSnapshot): void {
    const mark = markOf(snapshot);
    if (mark !== last?.mark) {
      last = { snapshot, mark };
      for (const reader of readers) reader.put(snapshot);
    }
    if (isOver(snapshot.request)) for (const reader of readers) reader.end();
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
      readers.add(reader);
      if (last) reader.put(last.snapshot);
      // Also with a last state: this reader is to end when that one was the end.
      refresh();
      return reader;
    },
    concerns: (id) => id === requestId || id === last?.snapshot.request.planId,
    refresh,
    end() {
      for (const reader of readers) reader.end();
    },
  };
}

/** Differs between two states of which one is newer: every write leaves its own mark in its document, and every entry in its steps. */
function markOf({ request, plan, steps }: RequestSnapshot): string {
  const units = steps.map(({ seq }) => seq);
  return JSON.stringify([request, plan && [plan.writeId, plan.status, plan.updatedAt], units]);
}
