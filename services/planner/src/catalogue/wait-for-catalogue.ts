import { setTimeout as delay } from "node:timers/promises";
import type { ToolDescriptor } from "@planwright/plan";
import type { PlanningStore, WorkerStore } from "@planwright/store";

/** Dependencies of {@link waitForCatalogue}. */
export interface CatalogueWaitParts {
  store: Pick<PlanningStore, "toolCatalogue"> & Pick<WorkerStore, "liveWorkers">;
  /** How long to wait for an executor that publishes tools, in milliseconds. Default: 60,000. */
  catalogueWaitMs?: number | undefined;
}

const READ_EVERY_MS = 100;
/** A live executor has published its tools after this time, in milliseconds. */
const SETTLE_MS = 2_000;

/**
 * The tools that a tenant's plans may use. While there are none, it waits for an executor: right after a
 * start, executors have not published their tools yet. Empty when a live executor publishes none, or when no
 * tools were published in time. Rejects when the signal is aborted.
 */
export async function waitForCatalogue(
  { store, catalogueWaitMs = 60_000 }: CatalogueWaitParts,
  tenant: string,
  signal: AbortSignal,
): Promise<ToolDescriptor[]> {
  const startedAt = performance.now();
  let liveSince = Number.POSITIVE_INFINITY;
  for (;;) {
    const tools = await store.toolCatalogue(tenant);
    const now = performance.now();
    if (tools.length > 0) return tools;
    const { executor } = await store.liveWorkers();
    liveSince = executor > 0 ? Math.min(liveSince, now) : Number.POSITIVE_INFINITY;
    if (now - liveSince >= SETTLE_MS || now - startedAt >= catalogueWaitMs) return [];
    await delay(READ_EVERY_MS, undefined, { signal });
  }
}
