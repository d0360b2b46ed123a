import { type ToolCallStats, type ToolListing, toolCallsSince } from "@planwright/store";
import type { ToolView } from "../tools/tool-view.ts";
import type { GraphqlContext } from "./context.ts";

/** Statistics of the calls of a tool, for clients. */
export interface ToolCallsView extends Pick<ToolCallStats, "failures" | "p50Ms" | "p99Ms" | "errors"> {
  since: Date;
  count: number;
  lastAt: Date | null;
}

/** The name of a tool in the store. */
type Named = Pick<ToolView, "server" | "ownName">;
/** Dependencies of the reads. */
type Reading = Pick<GraphqlContext, "store" | "tenant" | "reads" | "nowMs">;

/** Most codes of failures that are shown. */
const MAX_CODES = 5;

/** When a tool was listed; undefined for a tool that is no longer in the catalogue. */
export async function readToolListing(
  tool: Named,
  { store, reads }: Reading,
): Promise<ToolListing | undefined> {
  const listings = await reads.once("tool listings", async () => byName(await store.listToolListings()));
  return listings.get(nameOf(tool.server, tool.ownName));
}

/** Statistics of the calls of a tool by the caller's tenant; zeros without a call. */
export async function readToolCalls(
  tool: Named,
  { store, tenant, reads, nowMs }: Reading,
): Promise<ToolCallsView> {
  const since = toolCallsSince(nowMs);
  const stats = await reads.once("tool calls", async () => byName(await store.toolCallStats(tenant, since)));
  const found = stats.get(nameOf(tool.server, tool.ownName));
  if (!found) return { since, count: 0, failures: 0, p50Ms: null, p99Ms: null, errors: [], lastAt: null };
  const { calls: count, failures, p50Ms, p99Ms, errors, lastAt } = found;
  return { since, count, failures, p50Ms, p99Ms, errors: errors.slice(0, MAX_CODES), lastAt };
}

function byName<T extends { server: string; tool: string }>(all: readonly T[]): Map<string, T> {
  return new Map(all.map((one) => [nameOf(one.server, one.tool), one]));
}

function nameOf(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}
