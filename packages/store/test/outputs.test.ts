import {
  type HeldJson,
  JsonText,
  type JsonValue,
  type OutputText,
  parsePlan,
  valueOfHeld,
} from "@planwright/plan";
import {
  createStore,
  LeaseLostError,
  OutputMissingError,
  type PlanClaim,
  type Store,
} from "@planwright/store";
import { eventually, listSteps, testServers } from "@planwright/testing";
import { type Db, MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { STORES } from "./open-stores.ts";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
let store: Store;
let client: MongoClient;
let db: Db;

beforeEach(async () => {
  const url = testServers().mongodbUrl;
  store = await createStore({ url });
  client = await MongoClient.connect(url);
  db = client.db();
});
afterEach(async () => {
  await client.close();
  await store.close();
});

type AnyStore = Pick<Store, "claimPlan" | "submitPlan" | "takeFromDead">;

async function claimed(planId: string, owner: string, from: AnyStore = store): Promise<PlanClaim> {
  return eventually(async () => {
    // All owners are unknown workers.
    await from.takeFromDead({ declaresSilent: false });
    return from.claimPlan(planId, owner);
  });
}

async function planOf(into: AnyStore, ...tools: string[]): Promise<string> {
  const parsed = parsePlan(tools.map((tool) => ({ id: tool, tool, arguments: {} })));
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = parsed;
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  return (await into.submitPlan(input)).plan._id;
}

const done = (key: string, output: HeldJson) => ({
  key,
  stepId: key,
  status: "COMPLETED" as const,
  attempts: 1,
  output,
});

/** The output of `a`, read under a claim of the plan. */
async function outputOfA(claim: PlanClaim, from: Pick<Store, "readStoredOutputs"> = store) {
  const [stored] = await from.readStoredOutputs(claim, ["a"]);
  return stored;
}

const FAILED = { code: "TOOL_FAILED", message: "no", retryable: false };

const storedOutputs = () => db.collection<{ _id: string; epoch: number }>("outputs").find().toArray();
const nested = (depth: number): JsonValue => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
const KIB = 1_024;

describe("an output is read as the JSON that the tool returned", () => {
  test.each<[string, JsonValue, "in the entry" | "separate"]>([
    ["null", null, "in the entry"],
    ["32 KiB", "x".repeat(32 * KIB - 2), "in the entry"],
    ["more than 32 KiB", "x".repeat(32 * KIB - 1), "separate"],
    ["8 MiB", { rows: Array.from({ length: 8 }, () => "y".repeat(KIB * KIB - 20)) }, "separate"],
    ["50 levels", nested(50), "in the entry"],
    ["64 levels", nested(64), "separate"],
    ["keys with NUL", { "a\0b": { "\0": 1 } }, "separate"],
    ["texts with NUL", "a\0b", "in the entry"],
    ["lone surrogates", { "\ud83d": ["\ude00", "x\ud83d"] }, "separate"],
    ["surrogate pairs", { "🙂": "\u{10ffff}" }, "in the entry"],
    ["keys that are operators", { $where: "1", $set: { $$NOW: "$status" } }, "in the entry"],
    ["the form of a MongoDB reference", { $ref: "plans", $id: "p1", $db: "d", more: 1 }, "separate"],
    ["the form of a BSON type", [{ _bsontype: "ObjectId", id: 1 }], "separate"],
    ["extended JSON", { $oid: "507f1f77bcf86cd799439011", $date: "2026-01-01T00:00:00Z" }, "in the entry"],
    ["__proto__", JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":2}}'), "in the entry"],
    ["odd keys", { "": 1, "a.b": 2, "1": 3, "0": 4, toJSON: 5, toBSON: 6, length: 7 }, "in the entry"],
    [
      "numbers",
      JSON.parse("[-0,5e-324,1.7e308,2147483648,9007199254740994,12345678901234567890,-1]"),
      "in the entry",
    ],
  ])("%s", async (_, output, where) => {
    const planId = await planOf(store, "a", "b");
    const first = await claimed(planId, "e1");
    await playRecords(store, first, [done("a", output)]);

    const [step] = await listSteps(store, TENANT, [planId]);
    const ref = step?.outputRef;
    expect(ref ? "separate" : "in the entry").toBe(where);
    if (ref) expect(ref.sizeBytes).toBe(Buffer.byteLength(JSON.stringify(output)));
    const read = ref ? (await store.readOutputs(TENANT, [ref])).get(ref.id) : step?.output;
    expect(JSON.stringify(read) === JSON.stringify(output)).toBe(true);

    await store.releasePlan(first, { status: "QUEUED" });
    const second = await claimed(planId, "e2");
    expect(second.records[0]?.outputBytes).toBe(Buffer.byteLength(JSON.stringify(output)));
    // A separate output is read only when it is needed.
    expect(second.records[0]?.output).toEqual(ref ? undefined : output);
    expect(
      JSON.stringify(valueOfHeld((await outputOfA(second))?.output ?? null)) === JSON.stringify(output),
    ).toBe(true);
  });
});

describe("the text that a tool wrote is stored with the output", () => {
  const large = ` ["${"x".repeat(40 * KIB)}"]`;
  const wide = `[${" ".repeat(40 * KIB)}1]`;
  test.each<[string, JsonValue, OutputText, "in the entry" | "separate"]>([
    ["as a number, for the usual forms", { a: [1] }, 2, "in the entry"],
    ["as the text, for other forms", 1000, "1e3", "in the entry"],
    ["as a number, with a large output", JSON.parse(large), 0, "separate"],
    ["only as the text, instead of a large output", JSON.parse(large), large, "separate"],
    ["only as the text, when the text is large", [1], wide, "separate"],
  ])("%s", async (_, output, outputText, where) => {
    const planId = await planOf(store, "a", "b");
    const first = await claimed(planId, "e1");
    await playRecords(store, first, [{ ...done("a", output), outputText }]);

    const [step] = await listSteps(store, TENANT, [planId]);
    expect(step?.outputRef ? "separate" : "in the entry").toBe(where);
    const isSeparateText = where === "separate" && typeof outputText === "string";
    expect(step?.outputText).toEqual(isSeparateText ? undefined : outputText);
    if (isSeparateText) expect(step?.outputRef?.sizeBytes).toBe(Buffer.byteLength(outputText));
    const ref = step?.outputRef;
    if (ref) expect((await store.readOutputs(TENANT, [ref])).get(ref.id)).toEqual(output);

    await store.releasePlan(first, { status: "QUEUED" });
    const second = await claimed(planId, "e2");
    expect(await outputOfA(second)).toEqual({ key: "a", output, texts: outputText });
    await store.writeRecords(
      second,
      [{ key: "b", stepId: "b", status: "FAILED", attempts: 1, error: FAILED }],
      [],
    );
    await store.finishPlan(second, { type: "finish", status: "FAILED", outputs: {}, error: FAILED });
    const again = await store.rerunPlan(TENANT, second.plan.requestId, { from: null, autoExecute: true });
    if (again.type !== "rerun") throw new TypeError(again.type);
    const third = await claimed(again.plan._id, "e3");
    expect(third.records.find(({ key }) => key === "a")?.carriedFrom).toEqual({ planId, key: "a" });
    expect(await outputOfA(third)).toEqual({ key: "a", output, texts: outputText });
  });
});

test("an output that is too large for one document is stored in several", async () => {
  const planId = await planOf(store, "a");
  const output = { results: Array.from({ length: 14 }, (_, n) => `${n}${"🙂".repeat(262_144)}`) };
  await playRecords(store, await claimed(planId, "e1"), [done("a", output)]);
  const [step] = await listSteps(store, TENANT, [planId]);
  expect(step?.outputRef?.parts).toBe(29);
  const second = await claimed(planId, "e2");
  expect(
    JSON.stringify(valueOfHeld((await outputOfA(second))?.output ?? null)) === JSON.stringify(output),
  ).toBe(true);
});

test("an output that is held as UTF-8 keeps each character, also one that decoders leave out", async () => {
  const planId = await planOf(store, "a");
  // The second document begins with a byte order mark.
  const text = JSON.stringify(`${"x".repeat(262_143)}\ufeff${"é".repeat(300_000)}`);
  const utf8 = new TextEncoder().encode(text);
  const held = new JsonText(utf8, utf8.byteLength);
  await playRecords(store, await claimed(planId, "e1"), [done("a", held)]);
  const read = (await outputOfA(await claimed(planId, "e2")))?.output;
  expect(read instanceof JsonText && read.text === text).toBe(true);
  expect(read instanceof JsonText && read.sizeBytes).toBe(utf8.byteLength);
});

test("an output is measured when it is written", async () => {
  const planId = await planOf(store, "a", "b");
  const [small, large] = ["é", "é".repeat(40 * KIB)];
  const sizes = await playRecords(store, await claimed(planId, "e1"), [done("a", small), done("b", large)]);
  expect([...sizes]).toEqual([
    ["a", 4],
    ["b", 80 * KIB + 2],
  ]);
});

test("a claim reads 1 MiB of outputs; the others are read on demand", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
  const planId = await planOf(store, ...names);
  const records = names.map((name) => done(name, "x".repeat(30 * KIB)));
  const first = await claimed(planId, "e1");
  await playRecords(store, first, records);
  expect([...first.journal.units()].filter((unit) => "output" in unit)).toEqual([]);
  const second = await claimed(planId, "e2");
  expect(second.records.filter(({ output }) => output !== undefined)).toHaveLength(34);
  expect(second.records.every(({ outputBytes }) => outputBytes === 30 * KIB + 2)).toBe(true);
  const stored = await store.readStoredOutputs(second, ["s39", "s0"]);
  expect(stored.map(({ key }) => key)).toEqual(["s39", "s0"]);
});

describe("an owner that lost the plan", () => {
  const large = (from: string): JsonValue => ({ from, text: "x".repeat(40 * KIB) });

  test("never overwrites the output of its successor", async () => {
    const planId = await planOf(store, "a");
    const first = await claimed(planId, "e1");
    const second = await claimed(planId, "e2");
    await expect(playRecords(store, first, [done("a", large("stale"))])).rejects.toBeInstanceOf(
      LeaseLostError,
    );
    await playRecords(store, second, [done("a", large("owner"))]);
    await expect(playRecords(store, first, [done("a", large("stale"))])).rejects.toBeInstanceOf(
      LeaseLostError,
    );
    const third = await claimed(planId, "e3");
    expect((await outputOfA(third))?.output).toMatchObject({ from: "owner" });
  });

  test("has no unused outputs after the end of the plan, and its completed outputs are kept", async () => {
    const planId = await planOf(store, "a", "b");
    const first = await claimed(planId, "e1");
    await playRecords(store, first, [done("a", large("first"))]);
    const second = await claimed(planId, "e2");
    await expect(playRecords(store, first, [done("b", large("stale"))])).rejects.toBeInstanceOf(
      LeaseLostError,
    );
    await playRecords(store, second, [done("b", large("second"))]);
    expect(await storedOutputs()).toHaveLength(3);
    await store.finishPlan(second, { type: "finish", status: "COMPLETED", outputs: {} });
    const kept = (await storedOutputs()).map(({ _id }) => _id);
    expect(kept.toSorted()).toEqual([`${planId}/a@1`, `${planId}/b@2`]);
  });
});

test("an output is stored before the step that refers to it: after a crash in between the step is repeated", async () => {
  const planId = await planOf(store, "a");
  const claim = await claimed(planId, "e1");
  await db.command({ collMod: "journal", validator: { "events.outputRef": { $exists: false } } });
  await expect(playRecords(store, claim, [done("a", "x".repeat(40 * KIB))])).rejects.toThrow("refused");
  expect(await storedOutputs()).toHaveLength(1);
  const [step] = await listSteps(store, TENANT, [planId]);
  expect([step?.status, step?.outputRef]).toEqual(["PENDING", undefined]);
});

test.each(STORES)(
  "large outputs are kept after the loss of their owner, in a store over $name",
  async ({ open }) => {
    const opened = await open();
    const planId = await planOf(opened.store, "a");
    const first = await claimed(planId, "e1", opened.store);
    const output = "x".repeat(40 * KIB);
    await playRecords(opened.store, first, [done("a", output)]);
    const second = await claimed(planId, "e2", opened.store);
    expect((await outputOfA(second, opened.store))?.output === output).toBe(true);
    await opened.close();
  },
);

test("outputs of another tenant are not found", async () => {
  const planId = await planOf(store, "a");
  await playRecords(store, await claimed(planId, "e1"), [done("a", "x".repeat(40 * KIB))]);
  const ref = (await listSteps(store, TENANT, [planId]))[0]?.outputRef;
  await expect(store.readOutputs("t2", ref ? [ref] : [])).rejects.toBeInstanceOf(OutputMissingError);
});

test("large arguments: their size, hash and beginning are stored", async () => {
  const planId = await planOf(store, "a");
  const claim = await claimed(planId, "e1");
  const args = { text: "x".repeat(9 * KIB * KIB) };
  const call = { key: "a", stepId: "a", attempt: 1, tool: "a", arguments: args, timeoutMs: 1 };
  await store.writeIntents(claim, [
    { call: { ...call, effectClass: "U" as const, mayAct: true }, attemptId: "try", argsHash: "h" },
  ]);
  const [step] = await listSteps(store, TENANT, [planId]);
  expect(step).toMatchObject({
    argsHash: "h",
    arguments: { sizeBytes: 9 * KIB * KIB + 11, preview: `{"text":"${"x".repeat(KIB - 9)}` },
  });
});

test("data of an error are stored up to 32 KiB; the error itself is always stored", async () => {
  const planId = await planOf(store, "a");
  const claim = await claimed(planId, "e1");
  const error = { code: "TOOL_FAILED", message: "no", retryable: false, data: "x".repeat(8 * KIB * KIB) };
  const failed = { key: "a", stepId: "a", status: "FAILED" as const, attempts: 1, error };
  await store.writeRecords(claim, [failed], []);
  const [step] = await listSteps(store, TENANT, [planId]);
  expect(step?.error).toEqual({ code: "TOOL_FAILED", message: "no", retryable: false });
});

test("of a message or a code that is longer than an entry may be, the beginning is kept", async () => {
  const planId = await planOf(store, "a");
  const claim = await claimed(planId, "e1");
  const error = { code: "E".repeat(KIB * KIB), message: "no".repeat(KIB * KIB), retryable: false };
  const failed = { key: "a", stepId: "a", status: "FAILED" as const, attempts: 1, error };
  await store.writeRecords(claim, [failed], []);
  const [step] = await listSteps(store, TENANT, [planId]);
  expect(step?.error?.message).toMatch(/^(no){1000,}n?…$/);
  expect(step?.error?.code).toMatch(/^E{100,}…$/);
});

test.each<[string, { message?: string; data?: JsonValue }, object]>([
  ["halves of characters in its message, as escapes", { message: "no \ud83d" }, { message: "no \\ud83d" }],
  ["whole characters in its message", { message: "no 🙂" }, { message: "no 🙂" }],
  [
    "halves of characters in its data, as JSON text",
    { data: ["\ude00"] },
    { data: '["\\ude00"]', dataBytes: 15 },
  ],
  [
    "data that MongoDB refuses, as JSON text",
    { data: { _bsontype: 1 } },
    { data: '{"_bsontype":1}', dataBytes: 19 },
  ],
  ["other data, as they are", { data: { left: 0 } }, { data: { left: 0 }, dataBytes: 10 }],
])("an error keeps %s", async (_, told, expected) => {
  const planId = await planOf(store, "a", "b");
  const failed = { key: "a", stepId: "a", status: "FAILED" as const, attempts: 1 };
  await playRecords(store, await claimed(planId, "e1"), [{ ...failed, error: { ...FAILED, ...told } }]);
  expect((await listSteps(store, TENANT, [planId]))[0]?.error).toEqual({ ...FAILED, ...expected });
});

test("outputs that MongoDB would change are not stored in the plan", async () => {
  const planId = await planOf(store, "a");
  const claim = await claimed(planId, "e1");
  const output = { "a\0b": 1 };
  await playRecords(store, claim, [done("a", output)]);
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: { a: output } });
  expect(await store.getPlan(TENANT, planId)).toMatchObject({ status: "COMPLETED", outputs: null });
});
