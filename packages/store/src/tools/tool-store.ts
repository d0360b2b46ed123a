/** The catalogue, the connections to tool servers, and what calls have shown, as executors reported them. */
import { randomUUID } from "node:crypto";
import {
  type LeftOutTool,
  mergeObserved,
  nameTools,
  type OutputShape,
  type ToolDescriptor,
} from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { isDuplicateKey } from "../database/transient-errors.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type {
  ContractAnswer,
  ContractAsk,
  ObservedOutputDocument,
  ServerReload,
  SignInDocument,
  ToolServerDocument,
} from "../records/tool-documents.ts";
import { addToolCalls, type CountedCalls, readToolCalls, type ToolCallStats } from "./tool-call-stats.ts";

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

/** New observations of one tool's outputs in one tenant. */
export interface LearnedOutput {
  tenant: string;
  server: string;
  /** The tool's name on the server. */
  tool: string;
  /** Digest of the tool's descriptor when it was called. */
  digest: string;
  shape: OutputShape;
}

/** Times of a tool of the catalogue. */
export interface ToolListing {
  server: string;
  /** The tool's name on the server. */
  tool: string;
  /** Time when an executor last read it from the server's list. */
  listedAt: Date;
  /** Time since which its server is not connected, by the latest report of an executor; null: it is connected. */
  disconnectedSince: Date | null;
}

/** A question about the contracts of a server's tools. */
export interface NewContractAsk extends Pick<ContractAsk, "tenant" | "modelLimits" | "digest"> {
  /** The live planners: a question that another one has taken is lost. */
  planners: readonly string[];
}

/** What an executor stores about a sign-in. */
export type StoredSignIn = Pick<SignInDocument, "url" | "sealed" | "tokensEndAt" | "asked" | "error">;

/** A sign-in without what is secret in it, but for the address at which a person signs in. */
export type ShownSignIn = Omit<SignInDocument, "sealed" | "answer">;

/** Most executors whose last reload of a server is stored. */
const MAX_RELOADS = 1_000;
/** Maximum number of tools of one tenant whose observed shapes are read, the most recently called first. */
const MAX_SHOWN = 2_000;
/** How long a question is open, and its answer is given again for the same tools, in milliseconds. */
const ASK_LIFE_MS = 600_000;
const NOT_CONNECTED: ToolServerReport["state"][] = ["connecting", "unreachable"];

/**
 * The published tools as one catalogue whose names are unique: `server/tool` where two servers offer the same one.
 * @param tenant - adds the shapes of outputs that its runs have shown (`observedOutput`). Default: no shapes
 */
export async function readCatalogue(
  { tools, observedOutputs }: Collections,
  tenant?: string,
): Promise<ToolDescriptor[]> {
  const [published, seen] = await Promise.all([
    tools.find().sort({ _id: 1 }).toArray(),
    tenant === undefined
      ? []
      : observedOutputs.find({ tenant }).sort({ seenAt: -1 }).limit(MAX_SHOWN).toArray(),
  ]);
  const observed = new Map(seen.map((document) => [observedName(document), document]));
  return nameTools(
    published.map((tool) => {
      const shown = observed.get(observedName(tool));
      return shown ? { ...tool.descriptor, observedOutput: shapeIn(shown) } : tool.descriptor;
    }),
  );
}

const observedName = ({ server, digest }: Pick<LearnedOutput, "server" | "digest">) => `${server}/${digest}`;

function shapeIn({ shape }: ObservedOutputDocument): OutputShape {
  const parsed: OutputShape = JSON.parse(shape);
  return parsed;
}

/** The part of the store that reads the catalogue, for clients and planners. */
export function createCatalogueReads(collections: Collections) {
  return {
    /** The catalogue, with a tenant also the shapes of outputs that its runs have shown: see `readCatalogue`. */
    toolCatalogue: (tenant?: string) => readCatalogue(collections, tenant),

    /** The tools that servers list and that no plan can use, by server; of each server the first 100. */
    leftOutTools: async (): Promise<LeftOutTool[]> => {
      const isThere = { leftOutCount: { $gt: 0 } };
      const found = collections.toolServers.find(isThere, { projection: { leftOut: 1 } });
      return (await found.sort({ _id: 1 }).toArray()).flatMap(({ leftOut }) => leftOut ?? []);
    },
  };
}

/** The part of the store that reads tools and their servers for clients. */
export function createToolReads(collections: Collections) {
  const { tools, toolServers, signIns } = collections;
  return {
    ...createCatalogueReads(collections),

    /** When each tool of the catalogue was seen, by server and name. */
    async listToolListings(): Promise<ToolListing[]> {
      const [listed, servers] = await Promise.all([
        tools
          .find({}, { projection: { server: 1, "descriptor.name": 1, updatedAt: 1 } })
          .sort({ _id: 1 })
          .toArray(),
        toolServers.find({ state: { $ne: "connected" } }, { projection: { since: 1 } }).toArray(),
      ]);
      const awaySince = new Map(servers.map(({ _id, since }) => [_id, since]));
      return listed.map(({ server, descriptor, updatedAt: listedAt }) => ({
        server,
        tool: descriptor.name,
        listedAt,
        disconnectedSince: awaySince.get(server) ?? null,
      }));
    },

    /**
     * Results of a tenant's calls, by tool, counted by all executors since the beginning of an hour; tools without a
     * call are left out. Calls of the last seconds may be missing: an executor adds what it counted every few
     * seconds. Hours before yesterday's are removed.
     */
    toolCallStats: (tenant: string, since: Date): Promise<ToolCallStats[]> =>
      readToolCalls(collections, tenant, since),

    /** The tool servers of the executors, by name, with the states of their connections. */
    toolServers: (): Promise<ToolServerDocument[]> =>
      toolServers
        .find({}, { projection: { contractAsk: 0 } })
        .sort({ _id: 1 })
        .toArray(),

    /** The sign-ins at tool servers, by name, without what is secret in them. */
    signIns: (): Promise<ShownSignIn[]> =>
      signIns
        .find({}, { projection: { sealed: 0, answer: 0 } })
        .sort({ _id: 1 })
        .toArray(),
  };
}

/** The part of the store by which executors report tools, their servers and what calls have shown. */
export function createToolReports({ collections, clock }: StoreDependencies) {
  const { tools, toolServers, signIns, observedOutputs, plans } = collections;
  return {
    /** Replaces the tools of a server in the catalogue; tools that are absent are removed. */
    async publishTools(server: string, offered: readonly { descriptor: ToolDescriptor; digest: string }[]) {
      const updatedAt = new Date(clock.now());
      const replacements = offered.map(({ descriptor, digest }) => ({
        replaceOne: {
          filter: { _id: `${server}/${descriptor.name}` },
          replacement: { server, descriptor, digest, updatedAt },
          upsert: true,
        },
      }));
      if (replacements.length > 0) await tools.bulkWrite(replacements, { ordered: false });
      const ids = replacements.map(({ replaceOne }) => replaceOne.filter._id);
      await tools.deleteMany({ server, _id: { $nin: ids } });
    },

    /**
     * Replaces the stored state of a server: the newest report of any executor wins. A report that does not say
     * which tools are left out keeps what is stored about them. A server that was not connected before has been
     * away since then, whichever process reports it: executors that start again know only their own time.
     */
    async publishServer({ since, ...facts }: ToolServerReport) {
      const wasAway = { $in: ["$state", NOT_CONNECTED] };
      const awaySince = { $cond: [wasAway, { $min: ["$since", since] }, since] };
      const reported = Object.entries({ ...facts, updatedAt: new Date(clock.now()) });
      const $set = {
        since: facts.state === "connected" ? since : awaySince,
        ...Object.fromEntries(reported.map(([name, value]) => [name, { $literal: value }])),
      };
      await toolServers.updateOne({ _id: facts.server }, [{ $set }], { upsert: true });
    },

    /** The newest request of an operator to reload each server, of the servers that have one. */
    async readAskedReloads(): Promise<AskedReload[]> {
      const isAsked = { reloadAskedAt: { $exists: true } };
      const servers = await toolServers.find(isAsked, { projection: { reloadAskedAt: 1 } }).toArray();
      return servers.flatMap(({ _id: server, reloadAskedAt: askedAt }) =>
        askedAt ? [{ server, askedAt }] : [],
      );
    },

    /** Stores how this executor reloaded a server, in the place of its earlier reload. */
    async reportReload(server: string, reload: ServerReload) {
      const filter = { _id: server };
      await toolServers.bulkWrite([
        { updateOne: { filter, update: { $pull: { reloads: { executor: reload.executor } } } } },
        { updateOne: { filter, update: { $push: { reloads: { $each: [reload], $slice: -MAX_RELOADS } } } } },
      ]);
    },

    /**
     * Merges observations of outputs into the stored shapes: one read and one bulk for all. When two processes do
     * this at the same time, observations of one may be lost; the next outputs bring them again.
     */
    async learnOutputs(learned: readonly LearnedOutput[]) {
      if (learned.length === 0) return;
      const seenAt = new Date(clock.now());
      const idOf = (each: LearnedOutput): string => `${each.tenant}/${observedName(each)}`;
      const known = await observedOutputs.find({ _id: { $in: learned.map(idOf) } }).toArray();
      const shapes = new Map(known.map((document) => [document._id, shapeIn(document)]));
      const updates = learned.map((each) => {
        const { tenant, server, tool, digest } = each;
        const shape = JSON.stringify(mergeObserved(shapes.get(idOf(each)), each.shape));
        const change = { $set: { tenant, server, tool, digest, shape, seenAt } };
        return { updateOne: { filter: { _id: idOf(each) }, update: change, upsert: true } };
      });
      await observedOutputs.bulkWrite(updates, { ordered: false });
    },

    /** Adds this process's counts of calls to those of all executors. Not fenced: no decision depends on them. */
    addToolCalls: (counted: readonly CountedCalls[]) => addToolCalls(collections, counted),

    /**
     * Removes servers that are no longer configured, with their tools.
     * @param withSignIn - those of them that have a sign-in; the sign-ins of others are removed
     */
    async keepOnlyServers(servers: readonly string[], withSignIn: readonly string[] = []) {
      const isGone = { server: { $nin: [...servers] } };
      await Promise.all([
        tools.deleteMany(isGone),
        toolServers.deleteMany(isGone),
        signIns.deleteMany({ server: { $nin: [...withSignIn] } }),
      ]);
    },

    /* Sign-ins at tool servers: of all executors one at a time changes one. */

    /** The sign-in at a server; null: there is none. */
    readSignIn: (server: string): Promise<SignInDocument | null> => signIns.findOne({ _id: server }),

    /**
     * Takes the right to change the sign-in at a server until a time, or until {@link storeSignIn}. False while another
     * one has it.
     * @param holder - names the taker and this taking
     */
    async holdSignIn(server: string, holder: string, heldMs: number): Promise<boolean> {
      const now = new Date(clock.now());
      const isFree = { _id: server, $or: [{ heldUntil: { $exists: false } }, { heldUntil: { $lte: now } }] };
      const $set = { holder, heldUntil: new Date(now.getTime() + heldMs) };
      const fresh = {
        server,
        url: "",
        sealed: "",
        tokensEndAt: null,
        asked: null,
        answer: null,
        error: null,
      };
      try {
        const $setOnInsert = { ...fresh, updatedAt: now };
        return (await signIns.updateOne(isFree, { $set, $setOnInsert }, { upsert: true })).acknowledged;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    /** Stores a sign-in, or keeps it as it is, and gives up the right to change it. False: the right had ended. */
    async storeSignIn(server: string, holder: string, changed: StoredSignIn | null): Promise<boolean> {
      const $set = changed && { ...changed, answer: null, updatedAt: new Date(clock.now()) };
      const free = { $unset: { holder: "", heldUntil: "" } } as const;
      const change = $set ? { $set, ...free } : free;
      return (await signIns.updateOne({ _id: server, holder }, change)).matchedCount === 1;
    },

    /** Makes the plans that wait for a sign-in due. Returns their number. */
    async wakeSignIns(): Promise<number> {
      const isWaiting = { status: "WAITING", waitReason: "sign-in" } as const;
      return (await plans.updateMany(isWaiting, [{ $set: { dueAt: "$$NOW" } }])).modifiedCount;
    },
  };
}

/** The part of the store by which operators ask about tool servers. */
export function createServerControls({ collections, clock }: StoreDependencies) {
  const { toolServers, signIns } = collections;

  /** The newest question about the contracts of a server's tools; null without one. */
  async function readContractAsk(server: string): Promise<ContractAsk | null> {
    const found = await toolServers.findOne({ _id: server }, { projection: { contractAsk: 1 } });
    return found?.contractAsk ?? null;
  }

  return {
    readContractAsk,

    /**
     * Stores how an authorization server answered a question, which is named by its `state`. Returns the server; null:
     * the question is not open any more.
     */
    async answerSignIn(state: string, answer: NonNullable<SignInDocument["answer"]>): Promise<string | null> {
      const isOpen = { "asked.state": { $eq: state }, answer: null };
      const found = await signIns.findOneAndUpdate(isOpen, { $set: { answer } });
      return found?.server ?? null;
    },

    /** Asks all executors to connect to a tool server anew. Null when no executor knows the server. */
    async askReload(server: string, by: string): Promise<AskedReload | null> {
      const at = new Date(clock.now());
      const change = { $max: { reloadAskedAt: at }, $set: { reloadAskedBy: by } };
      const asked = await toolServers.findOneAndUpdate({ _id: server }, change, { returnDocument: "after" });
      return asked && { server, askedAt: asked.reloadAskedAt ?? at };
    },

    /**
     * Asks a planner with a model what the contracts of a server's tools may be, unless that is being asked or was
     * answered without a failure within the last ten minutes: a model is asked once, however many operators ask.
     * Null when no executor knows the server.
     */
    async askContracts(server: string, { planners, ...asked }: NewContractAsk): Promise<ContractAsk | null> {
      const at = new Date(clock.now());
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
      return changed?.contractAsk ?? readContractAsk(server);
    },
  };
}

/** The part of the store by which a planner takes and answers such questions. */
export function createContractAnswers({ collections, clock }: StoreDependencies) {
  const { toolServers } = collections;
  return {
    /** Takes an open question for this planner, which is then the only one that asks a model; null without any. */
    async takeContractAsk(planner: string): Promise<{ server: string; ask: ContractAsk } | null> {
      const isOpen = {
        "contractAsk.answer": null,
        "contractAsk.takenBy": null,
        "contractAsk.askedAt": { $gt: new Date(clock.now() - ASK_LIFE_MS) },
      };
      const update = { $set: { "contractAsk.takenBy": planner } };
      const taken = await toolServers.findOneAndUpdate(isOpen, update, { returnDocument: "after" });
      return taken?.contractAsk ? { server: taken._id, ask: taken.contractAsk } : null;
    },

    /** Stores the answer to a question that this planner took, unless a newer question has replaced it. */
    async answerContracts(
      { server, ask }: { server: string; ask: Pick<ContractAsk, "id"> },
      answer: ContractAnswer,
    ) {
      const filter = { _id: server, "contractAsk.id": ask.id, "contractAsk.answer": null };
      await toolServers.updateOne(filter, { $set: { "contractAsk.answer": answer } });
    },
  };
}
