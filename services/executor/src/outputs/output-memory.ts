/**
 * Limits the bytes, as JSON, of all outputs that a process holds in memory. The plan that holds most drops
 * some outputs, and reads them again when a step needs them. Reads that would together exceed the limit wait
 * for each other.
 */
import type { RunMetrics } from "../metrics/run-metrics.ts";

/** A running plan, as the owner of outputs in memory. */
export interface OutputHolder {
  /** Bytes of outputs that it could drop. */
  heldBytes(): number;
  /** Drops outputs until it holds at most so many bytes, or nothing is left to drop. */
  drop(toBytes: number): void;
}

/** One plan's part in the memory of its process. */
export interface PlanOutputs {
  /** To be called when the outputs in memory of the plan may have changed. */
  changed(): void;
  /** Reads outputs when enough memory is free, and passes them to `take`. @throws what `read` throws */
  load<Outputs>(bytes: number, read: () => Promise<Outputs>, take: (outputs: Outputs) => void): Promise<void>;
  /** The plan holds no outputs from now on. */
  leave(): void;
}

/** The outputs in memory of all plans of a process. */
export interface OutputMemory {
  /** Most bytes that all plans hold together, and that one step may refer to. */
  readonly maxBytes: number;
  join(holder: OutputHolder): PlanOutputs;
}

/** Options of {@link createOutputMemory}. */
export interface OutputMemoryOptions {
  /** Default: 256 MiB. */
  maxBytes?: number | undefined;
  /** Default: nothing is counted. */
  metrics?: Pick<RunMetrics, "outputsHeld" | "outputsRead"> | undefined;
}

const DEFAULT_MAX_BYTES = 268_435_456;

/** An empty memory. */
export function createOutputMemory({
  maxBytes = DEFAULT_MAX_BYTES,
  metrics,
}: OutputMemoryOptions = {}): OutputMemory {
  const held = new Map<OutputHolder, number>();
  let heldBytes = 0;
  let loadingBytes = 0;
  const waiting: { bytes: number; begin: () => void }[] = [];
  let isBalancing = false;

  function note(holder: OutputHolder, bytes: number): void {
    heldBytes += bytes - (held.get(holder) ?? 0);
    held.set(holder, bytes);
    metrics?.outputsHeld(heldBytes);
  }

  /** The largest holder drops first. A holder that cannot drop enough keeps its outputs. */
  function balance(): void {
    if (isBalancing || heldBytes <= maxBytes) return;
    isBalancing = true;
    const largestFirst = [...held].toSorted(([, one], [, other]) => other - one);
    for (const [holder, bytes] of largestFirst) {
      if (heldBytes <= maxBytes) break;
      holder.drop(Math.max(0, bytes - (heldBytes - maxBytes)));
      if (held.has(holder)) note(holder, holder.heldBytes());
    }
    isBalancing = false;
  }

  function beginNext(): void {
    for (let next = waiting[0]; next; next = waiting[0]) {
      if (loadingBytes > 0 && loadingBytes + next.bytes > maxBytes) return;
      waiting.shift();
      loadingBytes += next.bytes;
      next.begin();
    }
  }

  return {
    maxBytes,
    join(holder) {
      held.set(holder, 0);
      return {
        changed() {
          if (!held.has(holder)) return;
          note(holder, holder.heldBytes());
          balance();
        },
        async load(bytes, read, take) {
          await new Promise<void>((begin) => {
            waiting.push({ bytes, begin });
            beginNext();
          });
          try {
            if (!held.has(holder)) return;
            take(await read());
            metrics?.outputsRead(bytes);
          } finally {
            loadingBytes -= bytes;
            beginNext();
          }
        },
        leave() {
          note(holder, 0);
          held.delete(holder);
        },
      };
    },
  };
}
