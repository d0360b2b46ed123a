import type { Collections } from "../database/collections.ts";

/** When a tool of the catalogue was seen. */
export interface ToolListing {
  server: string;
  /** The server's own name for the tool. */
  tool: string;
  /** When an executor last read it from the server's list. */
  listedAt: Date;
  /** Since when its server is not connected, by the latest report of an executor; null while it is. */
  goneSince: Date | null;
}

/** When each tool of the catalogue was seen, by server and name. */
export async function readToolListings({
  tools,
  toolServers,
}: Pick<Collections, "tools" | "toolServers">): Promise<ToolListing[]> {
  const [listed, servers] = await Promise.all([
    tools
      .find({}, { projection: { server: 1, "descriptor.name": 1, updatedAt: 1 } })
      .sort({ _id: 1 })
      .toArray(),
    toolServers.find({ state: { $ne: "connected" } }, { projection: { since: 1 } }).toArray(),
  ]);
  const goneSince = new Map(servers.map(({ _id, since }) => [_id, since]));
  return listed.map(({ server, descriptor, updatedAt }) => ({
    server,
    tool: descriptor.name,
    listedAt: updatedAt,
    goneSince: goneSince.get(server) ?? null,
  }));
}
