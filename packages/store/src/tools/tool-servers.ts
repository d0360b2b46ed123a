import type { LeftOutTool } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ServerReload, ToolServerDocument } from "../records/tool-documents.ts";

/** An executor's report on its connection to a tool server. */
export type ToolServerReport = Omit<
  ToolServerDocument,
  "_id" | "updatedAt" | "reloadAskedAt" | "reloadAskedBy" | "reloads"
>;

/** An operator's request to reload a server. */
export interface AskedReload {
  server: string;
  askedAt: Date;
}

/** Most executors whose last reload of a server is stored. */
const MAX_RELOADS = 1_000;

/**
 * Replaces the stored state of a server: the newest report of any executor wins. A report that does not say
 * which tools are left out keeps what is stored about them. A server that was not connected before has been away
 * since then, whichever process reports it: executors that start again know only their own time.
 */
export async function publishServer(
  { toolServers }: Pick<Collections, "toolServers">,
  report: ToolServerReport,
  updatedAt: Date,
): Promise<void> {
  const { since, ...facts } = report;
  const wasAway = { $in: ["$state", NOT_CONNECTED] };
  const awaySince = { $cond: [wasAway, { $min: ["$since", since] }, since] };
  const literals = Object.entries({ ...facts, updatedAt }).map(([name, value]) => [
    name,
    { $literal: value },
  ]);
  await toolServers.updateOne(
    { _id: report.server },
    [
      {
        $set: {
          since: report.state === "connected" ? since : awaySince,
          ...Object.fromEntries(literals),
        },
      },
    ],
    { upsert: true },
  );
}

/** States of servers that cannot be called. */
const NOT_CONNECTED: ToolServerReport["state"][] = ["connecting", "unreachable"];

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

/** Asks all executors to reload a server. Null when no executor has reported the server. */
export async function askReload(
  { toolServers }: Pick<Collections, "toolServers">,
  server: string,
  { by, at }: { by: string; at: Date },
): Promise<AskedReload | null> {
  const change = { $max: { reloadAskedAt: at }, $set: { reloadAskedBy: by } };
  const asked = await toolServers.findOneAndUpdate({ _id: server }, change, { returnDocument: "after" });
  return asked && { server, askedAt: asked.reloadAskedAt ?? at };
}

/** The newest request to reload each server, of the servers that have one. */
export async function readAskedReloads({
  toolServers,
}: Pick<Collections, "toolServers">): Promise<AskedReload[]> {
  const isAsked = { reloadAskedAt: { $exists: true } };
  const servers = await toolServers.find(isAsked, { projection: { reloadAskedAt: 1 } }).toArray();
  return servers.flatMap(({ _id: server, reloadAskedAt }) =>
    reloadAskedAt ? [{ server, askedAt: reloadAskedAt }] : [],
  );
}

/** Stores how an executor reloaded a server, in the place of its earlier reload. */
export async function reportReload(
  { toolServers }: Pick<Collections, "toolServers">,
  server: string,
  reload: ServerReload,
): Promise<void> {
  const filter = { _id: server };
  await toolServers.bulkWrite([
    { updateOne: { filter, update: { $pull: { reloads: { executor: reload.executor } } } } },
    { updateOne: { filter, update: { $push: { reloads: { $each: [reload], $slice: -MAX_RELOADS } } } } },
  ]);
}
