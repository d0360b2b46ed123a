import type { Collections } from "../database/collections.ts";

/** Times of a tool of the catalogue. */
export interface ToolListing {
  server: string;
  /** The tool's name on the server. */
  tool: string;
  /** Time when an executor last read it from the server's list. */
  listedAt: Date;
  /**
   * Time since which its server is not connected, by the latest report of an executor; null while it is
   * connected.
   */
  disconnectedSince: Date | null;
}

/** Times of all tools of the catalogue, by server and name. */
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
  const disconnectedSince = new Map(servers.map(({ _id, since }) => [_id, since]));
  return listed.map(({ server, descriptor, updatedAt }) => ({
    server,
    tool: descriptor.name,
    listedAt: updatedAt,
    disconnectedSince: disconnectedSince.get(server) ?? null,
  }));
}
