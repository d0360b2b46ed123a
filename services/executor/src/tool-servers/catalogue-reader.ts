import type { ToolDescriptor } from "@planwright/plan";
import type { PlanningStore } from "@planwright/store";

/** How long a catalogue may be cached, in milliseconds. */
const FRESH_MS = 5_000;

/**
 * The published catalogue, read at most every five seconds. It includes the tools of servers that cannot be
 * reached at the moment, so that a plan fails with "unreachable, try again" and not with "unknown tool".
 */
export function createCatalogueReader(store: Pick<PlanningStore, "toolCatalogue">): {
  read: () => Promise<readonly ToolDescriptor[]>;
  /** Makes the next read ask the store. */
  forget: () => void;
} {
  let cached: Promise<readonly ToolDescriptor[]> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    read() {
      if (cached === null || performance.now() - readAt > FRESH_MS) {
        readAt = performance.now();
        const reading = store.toolCatalogue();
        cached = reading;
        reading.catch(() => {
          if (cached === reading) cached = null;
        });
      }
      return cached;
    },
    forget() {
      cached = null;
    },
  };
}
