import { setTimeout as delay } from "node:timers/promises";
import type { ToolDescriptor } from "@planwright/plan";
import type { PlanningStore, WorkerStore } from "@planwright/store";

/** What is looked at. */
export interface CatalogueWaitParts {
  store: Pick<PlanningStore, "toolCatalogue"> & Pick<WorkerStore, "liveWorkers">;
  /** How long an executor that publishes tools is waited for, in milliseconds. Default 60,000. */
  catalogueWaitMs?: number | undefined;
}

const LOOK_EVERY_MS = 100;
/** An executor that lives has published what its servers offer; one that took over has its own servers. */
const SETTLE_MS = 2_000;

/**
 * The tools that a tenant's plans may use. While there are none, an executor is waited for: right after a start it has not published them yet.
 * Empty when one lives and still publishes none, or when none came in time. Rejects when the signal is aborted.
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
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}
