import type { Collections } from "../database/collections.ts";
import type { ToolServerDocument } from "../records/tool-documents.ts";

/** What an executor says of its connection to a tool server. */
export type ToolServerReport = Omit<ToolServerDocument, "_id" | "updatedAt">;

/** Replaces what is known of a server: the newest word wins, whichever executor says it. */
export async function publishServer(
  { toolServers }: Pick<Collections, "toolServers">,
  word: ToolServerReport,
  updatedAt: Date,
): Promise<void> {
  await toolServers.replaceOne({ _id: word.server }, { ...word, updatedAt }, { upsert: true });
}

/** All servers of the executors, by name. */
export function readServers({
  toolServers,
}: Pick<Collections, "toolServers">): Promise<ToolServerDocument[]> {
  return toolServers.find().sort({ _id: 1 }).toArray();
}
