import type { LeftOutTool } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ToolServerDocument } from "../records/tool-documents.ts";

/** An executor's report on its connection to a tool server. */
export type ToolServerReport = Omit<ToolServerDocument, "_id" | "updatedAt">;

/**
 * Replaces the stored state of a server: the newest report of any executor wins. A report that does not say
 * which tools are left out keeps what is stored about them.
 */
export async function publishServer(
  { toolServers }: Pick<Collections, "toolServers">,
  report: ToolServerReport,
  updatedAt: Date,
): Promise<void> {
  await toolServers.updateOne({ _id: report.server }, { $set: { ...report, updatedAt } }, { upsert: true });
}

/** All servers of the executors, by name. */
export function readServers({
  toolServers,
}: Pick<Collections, "toolServers">): Promise<ToolServerDocument[]> {
  return toolServers.find().sort({ _id: 1 }).toArray();
}

/** The listed tools of all servers that no plan can use, by server. */
export async function readLeftOut({ toolServers }: Pick<Collections, "toolServers">): Promise<LeftOutTool[]> {
  const isThere = { leftOutCount: { $gt: 0 } };
  const servers = await toolServers
    .find(isThere, { projection: { leftOut: 1 } })
    .sort({ _id: 1 })
    .toArray();
  return servers.flatMap(({ leftOut }) => leftOut ?? []);
}
