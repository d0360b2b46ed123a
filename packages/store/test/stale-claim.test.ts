import { parsePlan } from "@planwright/plan";
import { LeaseLostError, type PlanClaim } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore, type Reach } from "@planwright/store/memory";
import { beforeEach, expect, test } from "vitest";

const LEASE_MS = 10_000;
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
/** Operations of the slow executor with this name wait until somebody lets them go. */
let held: { name: string; go: () => void } | null;
let planId: string;
const monotonic = (): number => nowMs;
let database: ReturnType<typeof createMemoryDatabase>;

const slowly: Reach = async ({ name, apply }) => {
  if (held?.name === name) {
    const waiting = held;
    await new Promise<void>((resolve) => {
      waiting.go = resolve;
    });
  }
  return apply();
};

function open(owner: string, reach?: Reach) {
  return createMemoryStore({ database, owner, leaseMs: LEASE_MS, monotonic, wall: () => nowMs, reach });
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

test("a claimer that stood still before it fenced off takes nothing from its successor", async () => {
  await claimed("first");
  nowMs += LEASE_MS;
  held = { name: "steps.updateMany", go: () => undefined };
  const slow = open("slow", slowly);
  const claiming = slow.claimPlan(planId, "slow");
  await new Promise(setImmediate);
  nowMs += LEASE_MS;
  const owner = await claimed("owner");
  held.go();
  const stale = await claiming;
  const record = { key: "a", stepId: "a", status: "COMPLETED" as const, attempts: 1, output: 1 };
  if (stale) {
    await expect(slow.writeRecords(stale, [{ ...record, output: "stale" }], [])).rejects.toBeInstanceOf(
      LeaseLostError,
    );
  }
  await open("owner").writeRecords(owner, [record], []);
  expect((await open("reader").listSteps("t1", [planId]))[0]).toMatchObject({
    status: "COMPLETED",
    output: 1,
  });
});

test("an item is inserted by the owner alone: what is not there yet is fenced too", async () => {
  const item = (index: number) => ({
    key: `each[${index}]`,
    stepId: "each",
    item: index,
    status: "PENDING" as const,
    attempts: 0,
  });
  const stale = await claimed("stale");
  nowMs += LEASE_MS;
  const owner = await claimed("owner");
  await expect(open("stale").writeRecords(stale, [item(0)], [])).rejects.toBeInstanceOf(LeaseLostError);
  expect(await open("reader").listSteps("t1", [planId])).toHaveLength(2);
  await open("owner").writeRecords(owner, [item(0), item(1)], []);
  await expect(open("stale").writeRecords(stale, [item(1)], [])).rejects.toBeInstanceOf(LeaseLostError);
  const done = { ...item(0), status: "COMPLETED" as const, output: 1 };
  await expect(open("stale").writeRecords(stale, [done], [])).rejects.toBeInstanceOf(LeaseLostError);
  await open("owner").writeRecords(owner, [done], []);
  const units = await open("reader").listSteps("t1", [planId]);
  expect(units.map(({ key, status, epoch }) => [key, status, epoch])).toEqual([
    ["a", "PENDING", 2],
    ["each", "PENDING", 2],
    ["each[0]", "COMPLETED", 2],
    ["each[1]", "PENDING", 2],
  ]);
});
