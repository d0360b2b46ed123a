/** The guarantees of a journal, over MongoDB and in memory, also when operations or answers are lost. */
import { randomUUID } from "node:crypto";
import {
  emptyRequest,
  fold,
  type JournalEntry,
  type JournalEvent,
  JournalInvalidError,
} from "@planwright/engine";
import type { JsonValue, PlanId, RequestId } from "@planwright/plan";
import {
  EntryTooLargeError,
  type JournalDocument,
  LeaseLostError,
  StoreUnavailableError,
} from "@planwright/store";
import { createMemoryDatabase, createMemoryEntryLog, UnreachableError } from "@planwright/store/memory";
import { testServers } from "@planwright/testing";
import fc from "fast-check";
import { type Filter, MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCollections } from "../src/database/collections.ts";
import { type ClaimedJournal, type ClaimJournal, openClaimJournal } from "../src/execution/claim-journal.ts";
import {
  createMongoEntryLog,
  type EntryLog,
  type EntryPosition,
  entryIdOf,
  withoutEventValues,
} from "../src/journal/entry-log.ts";
import {
  createJournal,
  type Journal,
  type JournalOptions,
  MAX_ENTRY_BYTES,
  type NewEntry,
} from "../src/journal/journal.ts";
import type { HeadWrite } from "../src/journal/pending-write.ts";

type EventOf<Type extends JournalEvent["type"]> = Extract<JournalEvent, { type: Type }>;

const PLAN: PlanId = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";
const NOW = 1_700_000_000_000;

let client: MongoClient;
beforeAll(async () => {
  const writeConcern = { w: "majority", journal: true } as const;
  client = await MongoClient.connect(testServers().mongodbUrl, { retryWrites: false, writeConcern });
});
afterAll(() => client.close());

const LOGS: { name: string; open: () => EntryLog }[] = [
  {
    name: "MongoDB",
    open: openMongoLog,
  },
  { name: "memory", open: () => createMemoryEntryLog(createMemoryDatabase()) },
];

let owners = 0;
function journalOver(log: EntryLog, more: Partial<JournalOptions> = {}): Journal {
  owners += 1;
  const options = { log, owner: `w${owners}`, now: () => NOW, retryEveryMs: 1, retryForMs: 10_000 };
  return createJournal({ ...options, ...more });
}

function openMongoLog(): EntryLog {
  const db = client.db();
  const journal = db.collection<JournalDocument>(`journal_${randomUUID()}`);
  return createMongoEntryLog({ ...openCollections(client, db), journal });
}

/** Entries in a collection in which one of them cannot be read at first: no majority has committed it. */
function openHiding(id: string): EntryLog {
  const db = client.db();
  const journal = db.collection<JournalDocument>(`journal_${randomUUID()}`);
  let isHidden = true;
  const hiding = new Proxy(journal, {
    get(target, name) {
      if (name !== "find" || !isHidden) return Reflect.get(target, name, target);
      return (filter: Filter<JournalDocument>) => {
        isHidden = false;
        return target.find({ $and: [filter, { _id: { $ne: id } }] });
      };
    },
  });
  return createMongoEntryLog({ ...openCollections(client, db), journal: hiding });
}

/** Loses operations, or answers to operations, in this order. */
function losing(log: EntryLog, losses: ("request" | "answer" | "none")[]): EntryLog {
  async function pass<T>(go: () => Promise<T>): Promise<T> {
    const lost = losses.shift() ?? "none";
    if (lost === "request") throw new UnreachableError("lost");
    const answer = await go();
    if (lost === "answer") throw new UnreachableError("no answer");
    return answer;
  }
  return {
    insert: (...of) => pass(() => log.insert(...of)),
    read: (...of) => pass(() => log.read(...of)),
    readTails: (after) => log.readTails(after),
    readAt: (...of) => pass(() => log.readAt(...of)),
  };
}

function entry(requestId: string, seq: number, events: JournalEvent[], epoch?: number): NewEntry {
  const by = { kind: "executor" as const, id: "e1" };
  return { requestId, tenant: "t", planId: PLAN, seq, by, events, ...(epoch !== undefined && { epoch }) };
}

const stored: JournalEvent = {
  type: "plan.stored",
  planId: PLAN,
  version: 1,
  isValid: true,
  carried: [],
  settled: [],
  unanswered: [],
};
const STARTED_PLAN: JournalEvent[] = [stored, { type: "execution.asked" }];
const taken = (epoch: number): JournalEvent => ({
  type: "lease.taken",
  worker: `e${epoch}`,
  epoch,
  from: null,
});
const paused: JournalEvent[] = [{ type: "pause.asked" }];
const started = (key: string): EventOf<"attempt.started"> => ({
  type: "attempt.started",
  attemptId: key,
  attempt: 1,
  stepId: key,
  units: [key],
  tool: "t",
  effectClass: "K",
  mayAct: true,
  argsHash: "h",
  arguments: { sizeBytes: 2, value: {} },
  at: new Date(NOW),
});
const ended = (key: string): EventOf<"attempt.ended"> => ({
  type: "attempt.ended",
  attemptId: key,
  units: [key],
  outcome: "completed",
  error: null,
  at: new Date(NOW),
  durationMs: 1,
});
const completed = (key: string, output: JsonValue = 1): EventOf<"step.changed"> => ({
  type: "step.changed",
  key,
  stepId: key,
  status: "COMPLETED",
  output,
  outputBytes: JSON.stringify(output).length,
});
const REQUEST: RequestId = "req_1";
/** The claimed plan of these tests. */
const CLAIMED = { requestId: REQUEST, tenant: "t", planId: PLAN, takenFrom: null };

async function positionsOf(entries: AsyncIterable<JournalEntry>): Promise<EntryPosition[]> {
  const positions: EntryPosition[] = [];
  for await (const { requestId, seq } of entries) positions.push({ requestId, seq });
  return positions;
}

test("an entry in a bulk is not appended where another one is that cannot be read yet", async () => {
  const log = openHiding(entryIdOf({ requestId: "req_1", seq: 1 }));
  const [first, second] = [journalOver(log), journalOver(log)];
  const won = await first.append(entry("req_1", 1, STARTED_PLAN));
  await first.append(entry("req_2", 1, STARTED_PLAN));
  const [late] = await Promise.all([
    second.append(entry("req_1", 1, paused)),
    second.append(entry("req_2", 1, paused)),
  ]);
  expect(late).toEqual({ type: "taken", entry: won.entry });
});

describe.each(LOGS)("over $name", ({ open }) => {
  test("a seq is taken once: one of many writers appends, the others get its entry", async () => {
    const log = open();
    const journals = Array.from({ length: 8 }, () => journalOver(log));
    for (const seq of [1, 2, 3]) {
      const results = await Promise.all(
        journals.map((journal) => journal.append(entry("req_1", seq, STARTED_PLAN))),
      );
      const [won, ...others] = results.toSorted((a, b) => a.type.localeCompare(b.type));
      expect(won?.type).toBe("appended");
      for (const other of others) expect(other).toEqual({ type: "taken", entry: won?.entry });
    }
    const entries = await journalOver(log).read("req_1");
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test("entries are returned unchanged, in order, only of their request", async () => {
    const journal = journalOver(open());
    const value = { text: "a\u0000b", list: [1, 2.5, null, { "$x.y": true }], empty: {} };
    const at = new Date(NOW + 1);
    const changed = {
      type: "step.changed",
      key: "a",
      stepId: "a",
      status: "RETRYING",
      output: value,
    } as const;
    await journal.append(entry("req_1", 1, STARTED_PLAN));
    await journal.append(entry("req_10", 1, STARTED_PLAN));
    await journal.append(entry("req_1", 2, [{ ...changed, nextAttemptAt: at }, ...paused]));
    const all = await journal.read("req_1");
    expect(all).toEqual([
      { ...entry("req_1", 1, STARTED_PLAN), at: new Date(NOW), writeId: expect.any(String) },
      {
        ...entry("req_1", 2, [{ ...changed, nextAttemptAt: at }, ...paused]),
        at: new Date(NOW),
        writeId: expect.any(String),
      },
    ]);
    expect(await journal.read("req_1", 1)).toEqual(all.slice(1));
    expect(await journal.read("req_2")).toEqual([]);
  });

  test("a long journal is read completely", async () => {
    const log = open();
    const journal = journalOver(log);
    const seqs = Array.from({ length: 2_100 }, (_, index) => index + 1);
    await Promise.all(seqs.map((seq) => journal.append(entry("req_1", seq, paused))));
    expect((await journal.read("req_1")).map(({ seq }) => seq)).toEqual(seqs);
    expect(await journal.read("req_1", 2_099)).toHaveLength(1);
  });

  test.each([
    ["the answer to an append is lost", ["answer"]],
    ["an append is lost", ["request"]],
    ["both are lost several times", ["request", "answer", "answer", "request", "answer"]],
  ] as const)("%s: the entry is written once, and the append succeeds", async (_, losses) => {
    const log = open();
    const journal = journalOver(losing(log, [...losses]));
    const result = await journal.append(entry("req_1", 1, STARTED_PLAN));
    expect(result.type).toBe("appended");
    expect(await journal.read("req_1")).toEqual([result.entry]);
  });

  test("a copy of an append that arrives late changes nothing", async () => {
    const log = open();
    const journal = journalOver(log);
    const { entry: first } = await journal.append(entry("req_1", 1, STARTED_PLAN));
    await journal.append(entry("req_1", 2, paused));
    const before = await journal.read("req_1");
    await log.insert([first]);
    expect(await journal.read("req_1")).toEqual(before);
  });

  test("a later writer whose first try was lost gets the other entry", async () => {
    const log = open();
    const slow = journalOver(losing(log, ["request"]), { sleep: async () => void (await other) });
    const other = journalOver(log).append(entry("req_1", 1, STARTED_PLAN));
    const result = await slow.append(entry("req_1", 1, paused));
    expect(result).toEqual({ type: "taken", entry: (await other).entry });
  });

  test("without any answer an append fails with StoreUnavailableError", async () => {
    const lost = Array.from({ length: 9 }, () => "request" as const);
    let at = 0;
    const journal = journalOver(losing(open(), lost), { monotonic: () => (at += 1_000), retryForMs: 5_000 });
    await expect(journal.append(entry("req_1", 1, STARTED_PLAN))).rejects.toThrow(StoreUnavailableError);
  });

  test("appends of one turn are one bulk, and an entry that is too large fails alone", async () => {
    const bulks: number[] = [];
    const journal = journalOver(open(), { onBulk: (entries) => bulks.push(entries) });
    const large: JournalEvent = {
      type: "step.changed",
      key: "a",
      stepId: "a",
      status: "COMPLETED",
      output: "x".repeat(1_048_576),
    };
    const results = await Promise.allSettled([
      ...Array.from({ length: 64 }, (_, index) => journal.append(entry(`req_${index}`, 1, STARTED_PLAN))),
      journal.append(entry("req_large", 1, [large])),
    ]);
    expect(results.slice(0, 64).every(({ status }) => status === "fulfilled")).toBe(true);
    expect(results[64]).toMatchObject({ reason: expect.any(EntryTooLargeError) });
    expect(bulks).toEqual([64]);
    await journal.idle();
  });

  const foldAll = async (journal: Journal) => fold(emptyRequest("req_1"), await journal.read("req_1"));

  /** The claim of a request under an epoch. */
  async function claimed(journal: Journal, epoch: number): Promise<ClaimedJournal> {
    return { journal, ...CLAIMED, owner: `e${epoch}`, epoch, state: await foldAll(journal) };
  }

  /** A request whose owner holds it under epoch 1. */
  async function held(
    log: EntryLog,
    more: Partial<JournalOptions> = {},
  ): Promise<{ journal: Journal; claim: ClaimJournal }> {
    const journal = journalOver(log, more);
    await journal.append(entry("req_1", 1, STARTED_PLAN));
    const claim = openClaimJournal(await claimed(journal, 1));
    await claim.append([]);
    return { journal, claim };
  }

  test("an owner appends after a control that came between two of its turns, and folds it", async () => {
    const log = open();
    const { journal, claim } = await held(log);
    await claim.append([started("a")]);
    await journalOver(log).append(entry("req_1", 4, paused));
    await claim.append([started("b")]);
    const entries = await journal.read("req_1");
    expect(entries.map(({ events }) => events)).toEqual([
      STARTED_PLAN,
      [taken(1)],
      [started("a")],
      paused,
      [started("b")],
    ]);
    const folded = fold(emptyRequest("req_1"), entries).plans.get(PLAN);
    expect(folded).toMatchObject({ pauseAskedAt: new Date(NOW), status: "RUNNING" });
    expect([...claim.units()].map(({ key, seq }) => [key, seq])).toEqual([
      ["a", 3],
      ["b", 5],
    ]);
    expect(claim.unit("b")).toEqual({ ...folded?.units.get("b"), arguments: { sizeBytes: 2 } });
    expect(claim.unit("c")).toBeUndefined();
  });

  test("an owner that was declared dead appends nothing more; its earlier entries are kept", async () => {
    const log = open();
    const { claim } = await held(log);
    await claim.append([started("a")]);
    const next = journalOver(log);
    const successor = openClaimJournal(await claimed(next, 2));
    await successor.append([]);
    await expect(claim.append([started("b")])).rejects.toThrow(LeaseLostError);
    await expect(claim.append([started("c")])).rejects.toThrow(LeaseLostError);
    expect([...successor.units()].map(({ key }) => key)).toEqual(["a"]);
    expect((await next.read("req_1")).map(({ epoch }) => epoch)).toEqual([undefined, 1, 1, 2]);
  });

  test("a control that the owner before recorded after the claim is not recorded again", async () => {
    const log = open();
    const { claim } = await held(log);
    const control = { id: 1, by: "a client", at: new Date(NOW), event: { type: "pause.asked" } } as const;
    const next = journalOver(log);
    const successor = openClaimJournal({ ...(await claimed(next, 2)), controls: [control] });
    claim.take([control]);
    await claim.append([started("a")]);
    await successor.append([]);
    const recorded = (await next.read("req_1")).map(({ events }) => events.map(({ type }) => type));
    expect(recorded.slice(2)).toEqual([["pause.asked", "attempt.started"], ["lease.taken"]]);
  });

  test("one of two simultaneous claimers owns the plan, and the other loses", async () => {
    const log = open();
    await held(log);
    // Each claimer has its own epoch, as from the head.
    const both = await Promise.all([2, 3].map((epoch) => claimed(journalOver(log), epoch)));
    const claims = await Promise.allSettled(both.map((one) => openClaimJournal(one).append([])));
    const folded = await foldAll(journalOver(log));
    const lost = claims.filter((claim) => claim.status === "rejected");
    expect(folded.owner?.epoch).toBe(3);
    for (const { reason } of lost) expect(reason).toBeInstanceOf(LeaseLostError);
    expect(lost.length).toBeLessThan(2);
  });

  test("an owner without events appends no entry, also after the end of its plan", async () => {
    const { journal, claim } = await held(open());
    await claim.append([]);
    await claim.append([{ type: "plan.ended", status: "COMPLETED", outputs: {}, error: null }]);
    await claim.append([]);
    await expect(claim.append([started("a")])).rejects.toThrow(LeaseLostError);
    expect((await journal.read("req_1", 2)).map(({ events }) => events.map(({ type }) => type))).toEqual([
      ["plan.ended"],
    ]);
  });

  test("noted events are part of the owner's next entry, in their order", async () => {
    const { journal, claim } = await held(open());
    claim.note([started("a")]);
    claim.note([started("b")]);
    expect(claim.unit("a")).toBeUndefined();
    await claim.append([ended("a"), completed("a")]);
    claim.note([ended("b")]);
    await claim.append([]);
    const entries = await journal.read("req_1", 2);
    expect(entries.map(({ events }) => events)).toEqual([
      [started("a"), started("b"), ended("a"), completed("a")],
      [ended("b")],
    ]);
  });

  test("appends of an owner while one is in flight are one entry together", async () => {
    const { journal, claim } = await held(open());
    const keys = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const first = claim.append([started("first")]);
    await Promise.resolve();
    const others = keys.map((key) => claim.append([started(key)]));
    await Promise.all([first, ...others]);
    const entries = await journal.read("req_1", 2);
    expect(entries.map(({ events }) => events)).toEqual([[started("first")], keys.map(started)]);
    expect(claim.unit("s49")).toMatchObject({ status: "RUNNING", seq: 4 });
  });

  test("events that are too large together are split over entries, in order; a single one that is too large is refused", async () => {
    const { journal, claim } = await held(open());
    const keys = Array.from({ length: 7 }, (_, index) => `s${index}`);
    await claim.append(
      keys.flatMap((key) => [started(key), completed(key, "x".repeat(MAX_ENTRY_BYTES / 3))]),
    );
    const entries = await journal.read("req_1", 2);
    expect(entries.length).toBeGreaterThan(2);
    const order = entries.flatMap(({ events }) =>
      events.map((event) => ("key" in event ? event.key : "begun")),
    );
    expect(order).toEqual(keys.flatMap((key) => ["begun", key]));
    const tooLarge = completed("large", "x".repeat(MAX_ENTRY_BYTES));
    await expect(claim.append([started("large"), tooLarge])).rejects.toThrow(EntryTooLargeError);
    expect((await foldAll(journal)).plans.get(PLAN)?.units.get("large")?.status).toBe("RUNNING");
  });

  test("many events are split over entries that are short to fold, in order, with the writes that follow at the last", async () => {
    const { journal, claim } = await held(open());
    const keys = Array.from({ length: 2_100 }, (_, index) => `s${index}`);
    const end: JournalEvent = { type: "plan.ended", status: "CANCELLED", outputs: null, error: null };
    const followed: number[] = [];
    await claim.appendLast([...keys.map(started), end], ({ events }) => {
      followed.push(events.length);
      return [];
    });
    const entries = await journal.read("req_1", 2);
    expect(entries.map(({ events }) => events.length)).toEqual([1_000, 1_000, 101]);
    expect(entries.flatMap(({ events }) => events)).toEqual([...keys.map(started), end]);
    expect(followed).toEqual([101]);
  });

  test("a call for many items is split over entries that are short to fold; its items are those of one call", async () => {
    const { journal, claim } = await held(open());
    const units = Array.from({ length: 2_100 }, (_, index) => `list[${index}]`);
    const itemHashes = units.map((key) => `hash of ${key}`);
    const list = { key: "list", stepId: "list" };
    await claim.append([
      { type: "items.expanded", stepId: "list", count: units.length },
      { ...started("list"), ...list, units, itemHashes },
    ]);
    await claim.append([{ ...ended("list"), units }]);
    const entries = await journal.read("req_1", 2);
    const counts = entries.map(({ events }) =>
      events.map((event) => ("units" in event ? event.units.length : event.type)),
    );
    expect(counts).toEqual([["items.expanded"], [1_000], [1_000], [100], [1_000], [1_000], [100]]);
    const folded = [...((await foldAll(journal)).plans.get(PLAN)?.units.values() ?? [])];
    expect(folded.map(({ key, itemHash }) => [key, itemHash])).toEqual(
      units.map((key, index) => [key, itemHashes[index]]),
    );
    expect(new Set(folded.map(({ attempts }) => attempts.map(({ attemptId }) => attemptId).join()))).toEqual(
      new Set(["list"]),
    );
  });

  test("the writes that follow the last entry are not part of earlier entries", async () => {
    const { claim } = await held(open());
    const large = ["a", "b", "c"].flatMap((key) => [
      started(key),
      completed(key, "x".repeat(MAX_ENTRY_BYTES / 2)),
    ]);
    const before = claim.append(large);
    await Promise.resolve();
    const last: JournalEvent = { type: "plan.ended", status: "COMPLETED", outputs: {}, error: null };
    const followed: JournalEvent[][] = [];
    const end = claim.appendLast([last], ({ events }) => {
      followed.push(events);
      return [];
    });
    await Promise.all([before, end]);
    expect(followed).toEqual([[last]]);
  });

  test("the writes that follow are done when the append resolves, for a single entry in its own command", async () => {
    const later: string[] = [];
    const follow = async (writes: readonly HeadWrite[]) =>
      void later.push(...writes.flatMap((write) => ("id" in write ? write.id : [])));
    const log = open();
    const alone: string[] = [];
    const insert: EntryLog["insert"] = (entries, following = []) => {
      alone.push(...following.flatMap((write) => ("id" in write ? write.id : [])));
      return log.insert(entries);
    };
    const journal = journalOver({ ...log, insert }, { follow });
    const append = (requestId: string) =>
      journal.append(entry(requestId, 1, STARTED_PLAN), () => [
        { collection: "requests", id: requestId, condition: {}, set: {} },
      ]);
    await Promise.all([append("req_1"), append("req_2")]);
    expect(later).toEqual(["req_1", "req_2"]);
    await append("req_3");
    expect({ later, alone }).toEqual({ later: ["req_1", "req_2"], alone: ["req_3"] });
  });

  test("an owner writes no event that cannot follow from the journal", async () => {
    const { journal, claim } = await held(open());
    await claim.append([started("a"), ended("a"), completed("a")]);
    const before = await journal.read("req_1");
    await expect(claim.append([completed("a", 2)])).rejects.toThrow(JournalInvalidError);
    expect(await journal.read("req_1")).toEqual(before);
  });

  test("readTails reads all entries after positions, request by request; readAt only those at positions", async () => {
    const log = open();
    const journal = journalOver(log);
    const lengths = { req_1: 1_100, req_2: 3, req_3: 2 };
    const all = Object.entries(lengths).flatMap(([requestId, length]) =>
      Array.from({ length }, (_, index) => ({ requestId, seq: index + 1 })),
    );
    await Promise.all(all.map(({ requestId, seq }) => journal.append(entry(requestId, seq, [started("a")]))));
    const after = [
      { requestId: "req_1", seq: 0 },
      { requestId: "req_2", seq: 1 },
      { requestId: "req_4", seq: 0 },
    ];
    expect(await positionsOf(log.readTails(after))).toEqual(
      all.filter(({ requestId, seq }) => requestId === "req_1" || (requestId === "req_2" && seq > 1)),
    );
    expect(await positionsOf(log.readTails([{ requestId: "req_1", seq: 99 }]))).toHaveLength(1_001);
    expect(await positionsOf(log.readTails([]))).toEqual([]);
    const asked = [
      { requestId: "req_1", seq: 1_050 },
      { requestId: "req_3", seq: 2 },
    ];
    const selection = { keys: ["a"], body: true, output: true };
    const found = await log.readAt([...asked, { requestId: "req_3", seq: 9 }], selection);
    expect(found.map(({ requestId, seq }) => ({ requestId, seq }))).toEqual(expect.arrayContaining(asked));
    expect(found).toHaveLength(2);
  });
});

test("over MongoDB readTails reads a long journal in many turns of the event loop, in which other work is done", async () => {
  const log = openMongoLog();
  const events = Array.from({ length: 1_000 }, () => started("a"));
  const at = new Date();
  await log.insert(
    Array.from({ length: 20 }, (_, index) => ({
      ...entry("req_1", index + 1, events),
      at,
      writeId: `w${index}`,
    })),
  );
  let turns = 0;
  let isRead = false;
  const count = (): void => {
    turns += 1;
    if (!isRead) setImmediate(count);
  };
  const turnsOfEntries: number[] = [];
  for await (const _ of log.readTails([{ requestId: "req_1", seq: 0 }])) {
    if (turns === 0) setImmediate(count);
    turnsOfEntries.push(turns);
  }
  isRead = true;
  expect(new Set(turnsOfEntries).size).toBe(20);
});

test("over MongoDB readTails reads entries without values, and readAt with values", async () => {
  const log = openMongoLog();
  const journal = journalOver(log);
  const error = { code: "TOOL_FAILED", message: "no", retryable: true };
  const toApprove = { argsHash: "h", approvalHash: "p" };
  const preview = { sizeBytes: 40_000, preview: "{" };
  const events: JournalEvent[] = [
    started("a"),
    { ...started("c"), arguments: preview },
    { ...ended("a"), outcome: "failed", error: { ...error, data: "x", dataBytes: 3 } },
    {
      type: "step.changed",
      key: "b",
      stepId: "b",
      status: "FAILED",
      error: { ...error, data: [1], dataBytes: 3 },
    },
    {
      ...completed("a", { n: 1 }),
      outputText: "{ }",
      toApprove: { ...toApprove, arguments: { sizeBytes: 2, value: {} } },
    },
  ];
  const { entry: complete } = await journal.append(entry("req_1", 1, events));
  const tail: JournalEntry[] = [];
  for await (const one of log.readTails([{ requestId: "req_1", seq: 0 }])) tail.push(one);
  const { output: _, outputText: __, ...rest } = completed("a", { n: 1 });
  expect(tail).toEqual([
    {
      ...complete,
      events: [
        { ...started("a"), arguments: { sizeBytes: 2 } },
        { ...started("c"), arguments: { sizeBytes: 40_000 } },
        { ...ended("a"), outcome: "failed", error: { ...error, dataBytes: 3 } },
        { type: "step.changed", key: "b", stepId: "b", status: "FAILED", error: { ...error, dataBytes: 3 } },
        { ...rest, toApprove: { ...toApprove, arguments: { sizeBytes: 2 } } },
      ],
    },
  ]);
  expect(withoutEventValues(complete)).toEqual(tail[0]);
  const read = async (keys: string[], body: boolean, output: boolean) => {
    const found = await log.readAt([{ requestId: "req_1", seq: 1 }], { keys, body, output });
    return found.map((one) => one.events);
  };
  expect(await read(["a", "b", "c"], true, true)).toEqual([events]);
  const [startedA, , endedA, , completedA] = events;
  expect(await read(["a"], true, true)).toEqual([[startedA, endedA, completedA]]);
  const { arguments: ___, ...sent } = started("a");
  const failedA = { ...ended("a"), outcome: "failed", error: { ...error, dataBytes: 3 } };
  expect(await read(["a"], false, true)).toEqual([
    [sent, failedA, { ...completed("a", { n: 1 }), outputText: "{ }" }],
  ]);
  expect(await read(["b"], true, false)).toEqual([[events[3]]]);
  expect(await read(["$key"], true, true)).toEqual([]);
});

test("with any losses and takeovers, appended events are in the journal once, and refused ones are not", async () => {
  const aWorld = fc.record({
    losses: fc.array(fc.constantFrom("request", "answer", "none", "none", "none"), { maxLength: 60 }),
    acts: fc.array(fc.tuple(fc.constantFrom("work", "claim", "control"), fc.nat({ max: 2 })), {
      maxLength: 30,
    }),
  });
  await fc.assert(
    fc.asyncProperty(aWorld, async ({ losses, acts }) => {
      const log = createMemoryEntryLog(createMemoryDatabase());
      const lossy = losing(log, [...losses] as ("request" | "answer" | "none")[]);
      const journals = Array.from({ length: 3 }, () => journalOver(lossy, { sleep: async () => undefined }));
      const appended: string[] = [];
      const refused: string[] = [];
      const held = new Map<number, ClaimJournal>();
      let epoch = 0;
      let names = 0;
      await journalOver(log).append(entry("req_1", 1, STARTED_PLAN));

      async function own(worker: number, claim: ClaimJournal, events: JournalEvent[], name: string) {
        try {
          await claim.append(events);
          held.set(worker, claim);
          appended.push(name);
        } catch (error) {
          if (!(error instanceof LeaseLostError)) throw error;
          held.delete(worker);
          refused.push(name);
        }
      }
      async function act(kind: string, worker: number): Promise<void> {
        const journal = journals[worker] as Journal;
        if (kind === "control") {
          const tail = await journal.read("req_1");
          await journal.append(entry("req_1", tail.length + 1, [{ type: "resume.asked" }]));
        } else if (kind === "claim") {
          epoch += 1;
          const mine = epoch;
          const state = fold(emptyRequest("req_1"), await journal.read("req_1"));
          const claim = openClaimJournal({ ...CLAIMED, journal, owner: `e${mine}`, epoch: mine, state });
          await own(worker, claim, [], `lease ${mine}`);
        } else {
          const claim = held.get(worker);
          if (!claim) return;
          names += 1;
          const key = `s${names}`;
          const noted = `noted${names}`;
          claim.note([{ type: "step.changed", key: noted, stepId: noted, status: "SKIPPED" }]);
          await own(worker, claim, [{ type: "step.changed", key, stepId: key, status: "SKIPPED" }], key);
        }
      }
      // Each worker acts in sequence; all workers act at the same time.
      await Promise.all(
        journals.map(async (_, worker) => {
          for (const [kind, by] of acts) if (by === worker) await act(kind, worker);
        }),
      );

      const entries: JournalEntry[] = await journalOver(log).read("req_1");
      fold(emptyRequest("req_1"), entries);
      const namesInJournal = entries.flatMap(({ events }) =>
        events.flatMap((event) =>
          event.type === "step.changed" && !event.key.startsWith("noted")
            ? [event.key]
            : event.type === "lease.taken"
              ? [`lease ${event.epoch}`]
              : [],
        ),
      );
      expect(namesInJournal.toSorted()).toEqual(appended.toSorted());
      // Noted events are right before the events that they were written with.
      const changed = entries.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === "step.changed" ? [event.key] : [])),
      );
      const inPairs = changed
        .filter((key) => !key.startsWith("noted"))
        .flatMap((key) => [key.replace("s", "noted"), key]);
      expect(changed).toEqual(inPairs);
      for (const name of refused) expect(namesInJournal).not.toContain(name);
    }),
    { numRuns: 300 },
  );
});
