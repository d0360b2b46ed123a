import { setTimeout as delay } from "node:timers/promises";
import { schemaOfShape, seenIn, type ToolDescriptor } from "@planwright/plan";
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

/** Most tenants whose last catalogue is cached; each may have its own shapes of outputs. */
const MAX_TENANTS = 16;
/** Above this number, further outputs of the same shape do not change the catalogue. */
const MANY_OUTPUTS = 3;

/**
 * Returns the same array while nothing in a tenant's catalogue has changed, so that data derived from that
 * array, such as a search index, is made once and not for every request. The count of a field is not a
 * change.
 */
export function createSameCatalogue(): (tools: ToolDescriptor[], tenant?: string) => ToolDescriptor[] {
  const kept = new Map<string, { tools: ToolDescriptor[]; text: string }>();
  return (tools, tenant = "") => {
    const text = JSON.stringify(tools.map(comparable));
    const before = kept.get(tenant);
    const same = before?.text === text ? before : { tools, text };
    kept.delete(tenant);
    kept.set(tenant, same);
    const [oldest] = kept.keys();
    if (kept.size > MAX_TENANTS && oldest !== undefined) kept.delete(oldest);
    return same.tools;
  };
}

function comparable({ observedOutput, ...tool }: ToolDescriptor): unknown {
  if (!observedOutput) return tool;
  const schema = JSON.stringify(schemaOfShape(observedOutput), (key, value) =>
    key === "x-seen" ? undefined : value,
  );
  return [tool, Math.min(seenIn(observedOutput), MANY_OUTPUTS), schema];
}
