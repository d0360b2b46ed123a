/**
 * One budget of bytes for a process: outputs in memory, outputs being read, arguments of calls that insert
 * large outputs, and results being read.
 *
 * 1. The plan that holds most drops some outputs, and reads them again when a step needs them.
 * 2. Reads and arguments wait until they fit beside all others; sizes are known before anything is built. One
 *    is always allowed while no other large one is, whatever its size, so none waits forever.
 * 3. A small one does not wait for large ones: all small ones together may exceed the budget by a sixteenth.
 * 4. Among large ones the tenant that uses least is next, then the oldest; it is not overtaken by another
 *    large one.
 * 5. Results are counted and never wait: their tools have acted.
 */
import type { RunMetrics } from "../metrics.ts";

/** A running plan, as the owner of outputs in memory. */
interface OutputHolder {
  /** Default: all holders are of one tenant. */
  tenant?: string;
  /** Bytes of outputs that it could drop. */
  heldBytes(): number;
  /** Drops outputs until it holds at most so many bytes, or nothing is left to drop. */
  drop(toBytes: number): void;
  /**
   * Called when memory is reserved for a call that waited: `reserve` takes it before this returns, or it goes
   * to another call.
   */
  reserved?(key: string): void;
}

/** One plan's part in the memory of its process. */
export interface PlanOutputs {
  /** To be called when the outputs in memory of the plan may have changed. */
  changed(): void;
  /** Reads outputs when enough memory is free, and passes what `read` returns to `take`. @throws what `read` throws */
  load<Read>(bytes: number, read: () => Promise<Read>, take: (read: Read) => void): Promise<void>;
  /**
   * Reserves memory for the arguments of a call. Returns its release; undefined while there is none: then
   * `reserved` of the holder is called later, and asking again changes nothing.
   */
  reserve(key: string, bytes: number): (() => void) | undefined;
  /** The plan holds no outputs from now on. What still waits ends as soon as it begins. */
  leave(): void;
}

/** The outputs in memory of all plans of a process. */
export interface OutputMemory {
  /** Most bytes that all plans hold together, and that one step may refer to. */
  readonly maxBytes: number;
  join(holder: OutputHolder): PlanOutputs;
  /** Counts bytes of a result while it is read. @returns ends that */
  use(bytes: number): () => void;
}

/** Options of {@link createOutputMemory}. */
interface OutputMemoryOptions {
  /** Default: 256 MiB. */
  maxBytes?: number | undefined;
  /** Default: nothing is counted. */
  metrics?: Pick<RunMetrics, "outputsHeld" | "memoryReserved"> | undefined;
}

/** Bytes that are asked for. */
interface Request {
  holder: OutputHolder;
  bytes: number;
  /** Called when they are reserved. */
  begin: (release: () => void) => void;
}

const DEFAULT_MAX_BYTES = 268_435_456;
/** The part of the budget up to which a request is small, and by which small ones may exceed the budget. */
const SMALL = { each: 1 / 64, all: 1 / 16 };

/** An empty memory. */
export function createOutputMemory({
  maxBytes = DEFAULT_MAX_BYTES,
  metrics,
}: OutputMemoryOptions = {}): OutputMemory {
  const held = new Map<OutputHolder, number>();
  let heldBytes = 0;
  /** Reserved bytes: of small requests, and of large ones by tenant. */
  let smallBytes = 0;
  let largeBytes = 0;
  const largeByTenant = new Map<string, number>();
  let resultBytes = 0;
  let waiting: Request[] = [];
  let isBalancing = false;

  const isSmall = (bytes: number): boolean => bytes <= maxBytes * SMALL.each;
  const inUse = (): number => smallBytes + largeBytes + resultBytes;
  const tenantOf = ({ tenant = "" }: OutputHolder): string => tenant;
  const largeOf = ({ holder }: Request): number => largeByTenant.get(tenantOf(holder)) ?? 0;

  function note(holder: OutputHolder, bytes: number): void {
    heldBytes += bytes - (held.get(holder) ?? 0);
    held.set(holder, bytes);
    metrics?.outputsHeld(heldBytes);
  }

  /** The largest holder drops first. A holder that cannot drop enough keeps its outputs. */
  function balance(): void {
    const most = Math.max(0, maxBytes - inUse());
    if (isBalancing || heldBytes <= most) return;
    isBalancing = true;
    const largestFirst = [...held].toSorted(([, one], [, other]) => other - one);
    for (const [holder, bytes] of largestFirst) {
      if (heldBytes <= most) break;
      holder.drop(Math.max(0, bytes - (heldBytes - most)));
      if (held.has(holder)) note(holder, holder.heldBytes());
    }
    isBalancing = false;
  }

  /** Not inside a turn of a plan, which may be what reserves. */
  function balanceSoon(): void {
    if (heldBytes > Math.max(0, maxBytes - inUse())) queueMicrotask(balance);
  }

  function fits({ bytes }: Request): boolean {
    if (inUse() + bytes <= maxBytes) return true;
    return isSmall(bytes)
      ? smallBytes + bytes <= maxBytes * SMALL.all
      : largeBytes === 0 && resultBytes === 0;
  }

  /** The request that is next: a small one that fits, or the first large one if it fits. */
  function next(): Request | undefined {
    const small = waiting.find((request) => isSmall(request.bytes) && fits(request));
    if (small) return small;
    let large: Request | undefined;
    for (const request of waiting)
      if (!isSmall(request.bytes) && (!large || largeOf(request) < largeOf(large))) large = request;
    return large && fits(large) ? large : undefined;
  }

  function beginNext(): void {
    for (let request = next(); request; request = next()) {
      const begun = request;
      waiting = waiting.filter((each) => each !== begun);
      begun.begin(take(begun));
    }
  }

  /** @returns the release of the bytes, which has an effect once */
  function take(request: Request): () => void {
    const { holder, bytes } = request;
    const tenant = tenantOf(holder);
    let isTaken = true;
    const add = (change: number): void => {
      if (isSmall(bytes)) smallBytes += change;
      else {
        largeBytes += change;
        const left = largeOf(request) + change;
        if (left > 0) largeByTenant.set(tenant, left);
        else largeByTenant.delete(tenant);
      }
      metrics?.memoryReserved(smallBytes + largeBytes);
    };
    add(bytes);
    balanceSoon();
    return () => {
      if (!isTaken) return;
      isTaken = false;
      add(-bytes);
      beginNext();
    };
  }

  return {
    maxBytes,
    join(holder) {
      held.set(holder, 0);
      /** Waiting calls, and those for which memory is reserved at this moment. */
      const asked = new Map<string, (() => void) | undefined>();
      const clear = (key: string, release: () => void): void => {
        asked.set(key, release);
        holder.reserved?.(key);
        // Not taken: the call is not made now.
        if (asked.get(key) !== release) return;
        asked.delete(key);
        release();
      };
      return {
        changed() {
          if (!held.has(holder)) return;
          note(holder, holder.heldBytes());
          balance();
        },
        async load(bytes, read, takeOutputs) {
          const release = await new Promise<() => void>((begin) => {
            waiting.push({ holder, bytes, begin });
            beginNext();
          });
          try {
            if (!held.has(holder)) return;
            takeOutputs(await read());
          } finally {
            release();
          }
        },
        reserve(key, bytes) {
          const reserved = asked.get(key);
          if (reserved) {
            asked.delete(key);
            return reserved;
          }
          if (asked.has(key)) return undefined;
          const request: Request = { holder, bytes, begin: (release) => clear(key, release) };
          waiting.push(request);
          if (next() === request) {
            waiting = waiting.filter((each) => each !== request);
            return take(request);
          }
          asked.set(key, undefined);
          return undefined;
        },
        leave() {
          note(holder, 0);
          held.delete(holder);
        },
      };
    },
    use(bytes) {
      resultBytes += bytes;
      balanceSoon();
      return () => {
        resultBytes -= bytes;
        beginNext();
      };
    },
  };
}
