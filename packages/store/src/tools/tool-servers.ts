import { randomUUID } from "node:crypto";
import type { LeftOutTool } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import type { ContractAsk, ServerReload, ToolServerDocument } from "../records/tool-documents.ts";

/** An executor's report on its connection to a tool server. */
export type ToolServerReport = Omit<
  ToolServerDocument,
  "_id" | "updatedAt" | "reloadAskedAt" | "reloadAskedBy" | "reloads" | "contractAsk"
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
  return toolServers
    .find({}, { projection: { contractAsk: 0 } })
    .sort({ _id: 1 })
    .toArray();
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

/** A question about the contracts of a server's tools, for {@link askContracts}. */
export interface NewContractAsk extends Pick<ContractAsk, "tenant" | "modelLimits" | "digest"> {
  /** The live planners: a question that another one has taken is lost. */
  planners: readonly string[];
}

/** How long a question is open, and its answer is given again for the same tools, in milliseconds. */
export const ASK_LIFE_MS = 600_000;

/**
 * The newest question about the contracts of a server's tools, if it is open or was answered without a failure, and
 * a new one otherwise. So a model is asked once, however many operators ask. Null when no executor has reported the
 * server.
 */
export async function askContracts(
  { toolServers }: Pick<Collections, "toolServers">,
  server: string,
  { planners, at, ...asked }: NewContractAsk & { at: Date },
): Promise<ContractAsk | null> {
  const isOver = [
    // Also where there was no question yet.
    { "contractAsk.digest": { $ne: asked.digest } },
    { "contractAsk.askedAt": { $lt: new Date(at.getTime() - ASK_LIFE_MS) } },
    { "contractAsk.answer.error.code": { $gt: "" } },
    { "contractAsk.answer": null, "contractAsk.takenBy": { $nin: [null, ...planners] } },
  ];
  const id = `contracts_${Math.floor(at.getTime() / 1_000)}_${randomUUID().replaceAll("-", "")}`;
  const contractAsk: ContractAsk = { id, ...asked, askedAt: at, takenBy: null, answer: null };
  const changed = await toolServers.findOneAndUpdate(
    { _id: server, $or: isOver },
    { $set: { contractAsk } },
    { returnDocument: "after" },
  );
  return changed?.contractAsk ?? (await readContractAsk({ toolServers }, server));
}

/** The newest question about the contracts of a server's tools; null without one. */
export async function readContractAsk(
  { toolServers }: Pick<Collections, "toolServers">,
  server: string,
): Promise<ContractAsk | null> {
  const found = await toolServers.findOne({ _id: server }, { projection: { contractAsk: 1 } });
  return found?.contractAsk ?? null;
}
