/**
 * The guarantees of a turn, over MongoDB and in memory: the entry first, then the writes that follow, each
 * once, also when answers are lost.
 */
import type { EventOf, JournalEntry } from "@planwright/engine";
import { createPlanId, createRequestId } from "@planwright/plan";
import { createMemoryDatabase, createMemoryEntryLog } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import { type Document, MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { createRequestTurns } from "../src/journal/request-turns.ts";
import {
  createMongoTurnLog,
  type FollowingWrite,
  fromOutbox,
  type TurnLog,
  toOutbox,
} from "../src/journal/turn-log.ts";
import { createMemoryTurnLog } from "../src/memory/create-memory-store.ts";
import { reachAtOnce, UnreachableError } from "../src/memory/reach.ts";

/** A turn log, and access to its database. */
interface Opened {
  log: TurnLog;
  find(
    collection: "requests" | "plans" | "modelCalls" | "journal" | "outbox",
    id: string,
  ): Promise<Document | null>;
  put(collection: "requests", document: Document & { _id: string }): Promise<void>;
}

let client: MongoClient;
beforeAll(async () => {
  const writeConcern = { w: "majority", journal: true } as const;
  client = await MongoClient.connect(testServers().mongodbUrl, { retryWrites: false, writeConcern });
});
afterAll(() => client.close());

const LOGS: { name: string; open: () => Opened }[] = [
  {
    name: "MongoDB",
    open: () => {
      const db = client.db();
      const of = (name: string) => db.collection<Document & { _id: string }>(name);
      return {
        log: createMongoTurnLog(openCollections(client, db)),
        find: (collection, id) => of(collection).findOne({ _id: id }),
        put: async (collection, document) => void (await of(collection).insertOne(document)),
      };
    },
  },
  {
    name: "memory",
    open: () => {
      const database = createMemoryDatabase();
      return {
        log: createMemoryTurnLog(database, reachAtOnce, createMemoryEntryLog(database)),
        find: async (collection, id) => database.find(collection, { _id: id })[0] ?? null,
        put: async (collection, document) => database.insert(collection, document),
      };
    },
  },
];

const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes);

/** A request at version 1, and the turn that moves it to version 2. */
async function moving({ put }: Opened, writeId = "w1") {
  const now = new Date(1_700_000_000_000);
  const requestId = createRequestId(now.getTime(), random);
  const planId = createPlanId(now.getTime(), random);
  const entry: JournalEntry = {
    requestId,
    tenant: "t1",
    planId,
    seq: 1,
    by: { kind: "api", id: "Olga" },
    at: now,
    writeId,
    events: [
      { type: "plan.stored", planId, version: 2, isValid: true, carried: [], settled: [], unanswered: [] },
    ],
  };
  // Names with a special meaning in BSON or MongoDB.
  const plan = { _id: planId, requestId, version: 2, plan: { $date: "today", "a.b": { $set: 1 } }, at: now };
  const following: FollowingWrite[] = [
    { collection: "plans", insert: plan },
    { collection: "requests", filter: { _id: requestId, version: { $lt: 2 } }, set: { version: 2, planId } },
    {
      collection: "requests",
      filter: { _id: requestId, version: 2, moves: { $lt: 1 } },
      expressions: { moves: { $add: ["$moves", 1] } },
    },
  ];
  await put("requests", { _id: requestId, tenant: "t1", version: 1, moves: 0, createdAt: now });
  return {
    turn: { entry, following, isKept: true },
    plan,
    requestId,
    planId,
    entryId: `${requestId}/00000001`,
  };
}

describe.each(LOGS)("with $name", ({ open }) => {
  test("the writes that follow are done after the entry, and the outbox is empty then", async () => {
    const opened = open();
    const { turn, plan, requestId, planId, entryId } = await moving(opened);
    expect(await opened.log.append(turn)).toBeUndefined();
    expect(await opened.find("journal", entryId)).toMatchObject({ writeId: "w1", seq: 1 });
    expect(await opened.find("plans", planId)).toEqual(plan);
    expect(await opened.find("requests", requestId)).toMatchObject({ version: 2, planId, moves: 1 });
    expect(await opened.find("outbox", "w1")).toBeNull();
  });

  test("a repeat changes nothing", async () => {
    const opened = open();
    const { turn, requestId, planId } = await moving(opened);
    await opened.log.append(turn);
    expect(await opened.log.append(turn)).toBeUndefined();
    await opened.log.follow(turn.following);
    expect(await opened.find("requests", requestId)).toMatchObject({ version: 2, planId, moves: 1 });
    expect(await opened.find("outbox", "w1")).toBeNull();
  });

  test("when the seq is taken no writes are done, and the other entry is returned", async () => {
    const opened = open();
    const { turn, requestId, planId } = await moving(opened, "other");
    const events: JournalEntry["events"] = [{ type: "planning.cancelled" }];
    const first = { ...turn.entry, writeId: "first", events };
    expect(await opened.log.append({ entry: first, following: [] })).toBeUndefined();
    expect(await opened.log.append(turn)).toMatchObject({ writeId: "first", events });
    expect(await opened.find("plans", planId)).toBeNull();
    expect(await opened.find("requests", requestId)).toMatchObject({ version: 1 });
    expect(await opened.find("outbox", "other")).toBeNull();
  });

  test("a turn that was interrupted after its entry is completed by a repeat", async () => {
    const opened = open();
    const { turn, requestId, planId } = await moving(opened);
    await opened.log.append({ entry: turn.entry, following: [] });
    expect(await opened.log.append(turn)).toBeUndefined();
    expect(await opened.find("requests", requestId)).toMatchObject({ version: 2, planId, moves: 1 });
  });

  test("a turn whose answers are lost is sent again, and done once", async () => {
    const opened = open();
    const { turn, requestId } = await moving(opened);
    let losses = 3;
    const losing: TurnLog = {
      ...opened.log,
      async append(given) {
        const taken = await opened.log.append(given);
        if (losses-- > 0) throw new UnreachableError("no answer");
        return taken;
      },
    };
    const turns = createRequestTurns({
      log: losing,
      owner: requestId,
      now: () => 1_700_000_000_000,
      monotonic: () => 0,
      sleep: async () => undefined,
    });
    const { at: _, writeId: __, ...entry } = turn.entry;
    const following = () => turn.following;
    const appended = await turns.append({ ...turn, entry, following });
    expect(appended).toMatchObject({ type: "appended", entry: { writeId: `${requestId}:turn:1` } });
    expect(await opened.find("requests", requestId)).toMatchObject({ version: 2, moves: 1 });
    expect((await turns.append({ ...turn, entry, following })).type).toBe("taken");
  });

  test("a version with too many carried items for one entry is refused, and nothing is written", async () => {
    const opened = open();
    const { turn, requestId, planId, entryId } = await moving(opened);
    const carried = Array.from({ length: 700_000 }, (_, index) => `createAuthors[${index}]`);
    const [stored] = turn.entry.events as EventOf<"plan.stored">[];
    const { at: _, writeId: __, ...entry } = { ...turn.entry, events: [{ ...stored!, carried }] };
    const turns = createRequestTurns({
      log: opened.log,
      owner: requestId,
      now: () => 1_700_000_000_000,
      monotonic: () => 0,
      sleep: async () => undefined,
    });
    const refused = turns.append({ ...turn, entry, following: () => turn.following });
    await expect(refused).rejects.toMatchObject({
      code: "STORE_ENTRY_TOO_LARGE",
      facts: { place: entryId, maxBytes: 16_000_000 },
    });
    expect(await opened.find("journal", entryId)).toBeNull();
    expect(await opened.find("plans", planId)).toBeNull();
    expect(await opened.find("outbox", `${requestId}:turn:1`)).toBeNull();
  });
});

test("the outbox returns the writes unchanged, with any field names", async () => {
  const { turn } = await moving(LOGS[1]!.open());
  expect(fromOutbox(toOutbox(turn))).toEqual(turn.following);
});
