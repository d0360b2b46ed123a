import { parsePlan } from "@planwright/plan";
import { LeaseLostError, type PlanClaim } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type Reach } from "@planwright/store/memory";
import { listSteps } from "@planwright/testing";
import { beforeEach, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

const parsed = parsePlan([
  { id: "a", tool: "a", arguments: {} },
  { id: "each", forEach: { items: [1, 2], do: { tool: "a", arguments: {} } } },
]);
if (!parsed.ok) throw new TypeError("the plan is not valid");
const submission = {
  tenant: "t1",
  query: null,
  plan: parsed.plan,
  raw: "",
  diagnostics: [],
  autoExecute: true,
};

let nowMs: number;
/** Operations of the slow executor with this name wait until the test releases them. */
let held: { name: string; release: (() => void) | null } | null;
let planId: string;
const monotonic = (): number => nowMs;
let database: ReturnType<typeof createMemoryDatabase>;

const slowly: Reach = async ({ name, apply }) => {
  if (held?.name === name) {
    const waiting = held;
    await new Promise<void>((resolve) => {
      waiting.release = resolve;
    });
  }
  return apply();
};

/** Waits until an operation of the slow executor is held. */
async function untilHeld(): Promise<void> {
  await expect.poll(() => held?.release, { interval: 1 }).toBeTypeOf("function");
}

function releaseHeld(): void {
  const release = held?.release;
  held = null;
  release?.();
}

function open(owner: string, reach?: Reach) {
  return createMemoryStore({ database, owner, monotonic, wall: () => nowMs, reach });
}

/** Makes all leases due: all owners are unknown workers. */
async function ownersDied(): Promise<void> {
  await open("judge").takeFromDead({ declaresSilent: false });
}

async function claimed(owner: string): Promise<PlanClaim> {
  const claim = await open(owner).claimPlan(planId, owner);
  if (!claim) throw new TypeError("nothing to claim");
  return claim;
}

beforeEach(async () => {
  nowMs = 1_000_000;
  held = null;
  database = createMemoryDatabase(() => nowMs);
  planId = (await open("api").submitPlan(submission)).plan._id;
});

test("a claimer that was suspended before its first append does not take the plan from its successor", async () => {
  await claimed("first");
  await ownersDied();
  held = { name: "journal.insert", release: null };
  const slow = open("slow", slowly);
  const claiming = slow.claimPlan(planId, "slow");
  await untilHeld();
  await ownersDied();
  const owner = await claimed("owner");
  releaseHeld();
  expect(await claiming).toBeNull();
  const record = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 };
  await playRecords(open("owner"), owner, [record]);
  expect((await listSteps(open("reader"), "t1", [planId]))[0]).toMatchObject({
    status: "COMPLETED",
    output: 1,
  });
});

test("a claimer has the entries that the previous owner appended before `lease.taken`", async () => {
  const first = await claimed("first");
  await ownersDied();
  held = { name: "journal.insert", release: null };
  const claiming = open("slow", slowly).claimPlan(planId, "slow");
  await untilHeld();
  const call = { key: "a", stepId: "a", attempt: 1, tool: "a", arguments: {}, timeoutMs: 1 };
  const sent = {
    call: { ...call, effectClass: "U" as const, mayAct: true },
    attemptId: "try",
    argsHash: "h",
  };
  await open("first").writeIntents(first, [sent]);
  releaseHeld();
  const claim = await claiming;
  expect(claim?.records).toMatchObject([{ key: "a", status: "RUNNING", attempts: 1 }]);
  await expect(open("first").writeIntents(first, [sent])).rejects.toBeInstanceOf(LeaseLostError);
});

test("only the owner inserts items: new units are fenced too", async () => {
  const item = (index: number) => ({
    key: `each[${index}]`,
    stepId: "each",
    item: index,
    status: "PENDING" as const,
    attempts: 0,
  });
  const stale = await claimed("stale");
  await ownersDied();
  const owner = await claimed("owner");
  await expect(open("stale").writeRecords(stale, [item(0)], [])).rejects.toBeInstanceOf(LeaseLostError);
  expect(await listSteps(open("reader"), "t1", [planId])).toHaveLength(2);
  await open("owner").writeRecords(owner, [item(0), item(1)], []);
  await expect(open("stale").writeRecords(stale, [item(1)], [])).rejects.toBeInstanceOf(LeaseLostError);
  const done = { ...item(0), status: "COMPLETED" as const, output: 1 };
  await expect(playRecords(open("stale"), stale, [done])).rejects.toBeInstanceOf(LeaseLostError);
  await playRecords(open("owner"), owner, [done]);
  const units = await listSteps(open("reader"), "t1", [planId]);
  expect(units.map(({ key, status }) => [key, status])).toEqual([
    ["a", "PENDING"],
    ["each", "PENDING"],
    ["each[0]", "COMPLETED"],
    ["each[1]", "PENDING"],
  ]);
});
