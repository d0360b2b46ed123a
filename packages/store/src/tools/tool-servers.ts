import type { Collections } from "../database/collections.ts";
import type { ToolServerDocument } from "../records/tool-documents.ts";

/** An executor's report on its connection to a tool server. */
export type ToolServerReport = Omit<ToolServerDocument, "_id" | "updatedAt">;

/** Replaces the stored state of a server: the newest report of any executor wins. */
export async function publishServer(
  { toolServers }: Pick<Collections, "toolServers">,
  report: ToolServerReport,
  updatedAt: Date,
): Promise<void> {
  await toolServers.replaceOne({ _id: report.server }, { ...report, updatedAt }, { upsert: true });
}

/** All servers of the executors, by name. */
export function readServers({
  toolServers,
}: Pick<Collections, "toolServers">): Promise<ToolServerDocument[]> {
  return toolServers.find().sort({ _id: 1 }).toArray();
}
