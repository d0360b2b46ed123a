/** Tenants beside each other, over real executors: the calls that a tool got show what started when. */
import { type Plan, parsePlan } from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
  for (const tenant of ["busy", "small"])
    await bench.store.createApiKey({ tenant, name: tenant, scopes: ["execute"] });
});
afterEach(() => bench.close());

function oneCall(tool: string, latencyMs: number): Plan {
  const parsed = parsePlan({
    steps: [{ id: "a", tool, timeoutMs: 120_000, arguments: { value: 1, latencyMs } }],
  });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

async function submit(tenant: string, plan: Plan, isOffered = true): Promise<PlanDocument> {
  const submitted = await bench.store.submitPlan({
    tenant,
    query: null,
    plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  if (isOffered) bench.offer(submitted.plan);
  return submitted.plan;
}

const calls = (tool: string) => bench.tools.stats()[tool]?.calls ?? 0;

/** Time from the submission of a single step of the small tenant to its call, in milliseconds. */
async function startOfSmall(isOffered: boolean): Promise<number> {
  const before = calls("plain_effect");
  const submittedAt = performance.now();
  await submit("small", oneCall("plain_effect", 0), isOffered);
  await expect.poll(() => calls("plain_effect"), { interval: 5, timeout: 60_000 }).toBe(before + 1);
  return performance.now() - submittedAt;
}

/** Far below the 30 s of the calls that are running, and above the pauses of a busy machine. */
const SOON_MS = 5_000;

test.each([
  ["its hint reaches an executor", true],
  ["the sweep finds it", false],
])(
  "a single step starts at once beside 70 plans of another tenant whose calls take 30 s: %s",
  async (_, isOffered) => {
    await bench.startExecutor();
    await Promise.all(
      Array.from({ length: 70 }, () => submit("busy", oneCall("read_value", 30_000), isOffered)),
    );
    await expect.poll(() => calls("read_value"), { timeout: 30_000 }).toBe(48);
    expect(await startOfSmall(isOffered)).toBeLessThan(SOON_MS);
    expect(await startOfSmall(isOffered)).toBeLessThan(SOON_MS);
    expect(calls("read_value")).toBe(48);
  },
);

test("after a loss of all hints the sweep serves a tenant behind the long line of another one", async () => {
  // More plans than a look at MongoDB reads, all of them older than that of the small tenant.
  await Promise.all(Array.from({ length: 40 }, () => submit("busy", oneCall("read_value", 30_000), false)));
  await bench.startExecutor({ MAX_PLANS: "8" });
  await expect.poll(() => calls("read_value"), { timeout: 30_000 }).toBe(6);
  expect(await startOfSmall(false)).toBeLessThan(SOON_MS);
  expect(calls("read_value")).toBe(6);
});
