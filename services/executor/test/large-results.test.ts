import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isTerminalPlanStatus, parseExactJson, parsePlan } from "@planwright/plan";
import { watchEventLoop } from "@planwright/testing";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { openWorkbench, peakMiB, TENANT, type Workbench } from "./executor-process.ts";
import { healthPort } from "./health-port.ts";

const OTHER = "t2";
/** Long, for busy machines: reading these results takes seconds of processor time. */
const TIMEOUT_MS = 900_000;
/**
 * Longest time that the event loop may be blocked here, in seconds. Far more than a service needs, because a
 * busy machine suspends processes; one large result on the event loop took four seconds.
 */
const MAX_LAG_SECONDS = 1.5;

let bench: Workbench;

const TOOLS = {
  limited_read: { batch: { param: "value", max: 10, result_path: "value" } },
  noop: {
    mode: "dependent",
    depends_on: [{ tool: "read_value", required_fields: ["fields.f7"] }],
  },
  looked_up_effect: {
    lookup: { tool: "find_effect", arguments: { reference: "<<arguments.reference>>" }, settle_ms: 300 },
  },
};

beforeEach(async () => {
  bench = await openWorkbench({}, { tools: TOOLS, secrets: { "crm-key": {} } });
});
afterEach(async () => {
  await bench.close();
});

/** An executor with its health port. */
async function startExecutor(env: Record<string, string> = {}) {
  const health = await healthPort();
  const child = await bench.startProcess({ ...health.env, DEAD_AFTER_MS: "5000", ...env });
  async function lagSeconds(): Promise<number> {
    const text = await (await fetch(health.at("/metrics"))).text();
    return Number(/^nodejs_eventloop_lag_max_seconds\S* (\S+)$/m.exec(text)?.[1]);
  }
  await lagSeconds();
  return { child, scrape: () => health.scrape(), lagSeconds };
}

/** Calls of a tool that must not be repeated, one plan each, until the plan of the other tenant has ended. */
async function callBeside(planId: string): Promise<string[]> {
  const parsed = parsePlan([{ id: "small", tool: "plain_effect", arguments: { value: 1 } }]);
  if (!parsed.ok) throw new TypeError("The plan is invalid");
  const { plan } = parsed;
  const ids: string[] = [];
  for (;;) {
    const raw = JSON.stringify(plan);
    const input = { tenant: OTHER, query: null, plan, raw, diagnostics: [], autoExecute: true };
    ids.push((await bench.store.submitPlan(input)).plan._id);
    const large = await bench.store.getPlan("t1", planId);
    if (large && isTerminalPlanStatus(large.status)) return ids;
    await delay(250);
  }
}

async function statusesOf(planIds: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const planId of planIds) {
    const read = () => bench.store.getPlan(OTHER, planId).then((plan) => plan?.status ?? "READY");
    await expect.poll(read, { timeout: TIMEOUT_MS }).not.toMatch(/READY|QUEUED|RUNNING/);
    const status = await read();
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

test("results of 600,000 fields block no event loop: small calls of another tenant complete", {
  tags: ["proof"],
  timeout: TIMEOUT_MS,
}, async () => {
  const results = 4;
  const answers = Array.from({ length: results }, () => ({
    type: "huge" as const,
    bytes: 1,
    fields: 600_000,
  }));
  bench.tools.script({ read_value: answers });
  const { scrape, lagSeconds } = await startExecutor();
  const steps = answers.map((_, index) => ({ id: `read${index}`, tool: "read_value" }));
  const { _id: planId } = await bench.submit({
    steps: [
      ...steps,
      { id: "use", tool: "set_value", arguments: { value: `<<read${results - 1}.fields.f77>>` } },
    ],
    policy: { stepTimeoutMs: TIMEOUT_MS },
  });
  const small = await callBeside(planId);
  expect(await statusesOf(small)).toEqual({ COMPLETED: small.length });
  const { plan, steps: ended } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(ended.get("use")?.output).toMatchObject({ value: 7 });
  expect((await scrape())("lease_losses_total")).toBe(0);
  expect(await lagSeconds()).toBeLessThan(MAX_LAG_SECONDS);
});

/** Two steps that insert an output are more than the budget: `npm test` has these, `npm run proof` more. */
for (const { inserts, options } of [
  { inserts: 2, options: {} },
  { inserts: 12, options: { tags: ["proof"] } },
])
  test(`steps that insert a large output nine times wait for memory, and small calls of another tenant complete (${inserts} steps)`, {
    ...options,
    timeout: TIMEOUT_MS,
  }, async () => {
    const bytes = 3_000_000;
    bench.tools.script({ read_value: [{ type: "huge", bytes }] });
    const { child, scrape, lagSeconds } = await startExecutor({ OUTPUT_MEMORY_BYTES: String(33_554_432) });
    const nine = Array.from({ length: 9 }, () => "<<read>>");
    const uses = Array.from({ length: inserts }, (_, index) => ({
      id: `use${index}`,
      tool: "keyed_effect",
      arguments: { value: index, all: nine },
    }));
    const { _id: planId } = await bench.submit({
      steps: [{ id: "read", tool: "read_value" }, ...uses],
      policy: { stepTimeoutMs: TIMEOUT_MS },
    });
    const reasons = async () => [...(await bench.steps(planId)).values()].map(({ waitReason }) => waitReason);
    await expect.poll(reasons, { timeout: TIMEOUT_MS }).toContain("memory");
    const small = await callBeside(planId);
    expect(await statusesOf(small)).toEqual({ COMPLETED: small.length });
    const { plan, steps } = await bench.end(planId);
    expect(plan.status).toBe("COMPLETED");
    expect(steps.get(`use${inserts / 2 - 1}`)).toMatchObject({
      output: { value: inserts / 2 - 1 },
      arguments: { sizeBytes: expect.closeTo(9 * bytes, -4), preview: expect.any(String) },
    });
    expect(peakMiB(child)).toBeLessThan(900);
    expect((await scrape())("lease_losses_total")).toBe(0);
    expect(await lagSeconds()).toBeLessThan(MAX_LAG_SECONDS);
  });

/** An executor, and the longest block of its event loop since the last call of `start`. */
async function startWatchedExecutor(env: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), "planwright-blocks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const blocks = watchEventLoop(join(folder, "blocks"), 5);
  await startExecutor({ ...env, ...blocks.env });
  return { start: blocks.start, longestMs: async () => (await blocks.longestFirst())[0]?.ms ?? 0 };
}

/** How long reading a large value takes on this machine, in milliseconds of processor time. */
function readingMs(fields: number): number {
  const text = JSON.stringify(
    Object.fromEntries(Array.from({ length: fields }, (_, index) => [`f${index}`, 7])),
  );
  const before = process.cpuUsage();
  expect(parseExactJson(text)).toHaveProperty("f7", 7);
  return process.cpuUsage(before).user / 1_000;
}

for (const { fields, options } of [
  { fields: 150_000, options: {} },
  { fields: 300_000, options: { tags: ["proof"] } },
])
  test(`whatever reads a large output, it is not read on the event loop: conditions, items, batches and their answers, required fields, secrets, look-ups and theirs, approvals and parts of the outputs (${fields} fields)`, {
    ...options,
    timeout: TIMEOUT_MS,
  }, async () => {
    const read = { id: "read", tool: "read_value", arguments: { value: 1 } };
    const seven = "<<read.fields.f7>>";
    const { start, longestMs } = await startWatchedExecutor({ PLANWRIGHT_SECRET_CRM_KEY: "not-a-secret" });
    // Code that runs for the first time takes longer.
    await bench.end((await bench.submit({ steps: [{ ...read, when: { eq: [1, 1] } }] }))._id);
    bench.tools.script({
      read_value: [{ type: "huge", bytes: 1, fields, items: 3 }],
      limited_read: [{ type: "huge", bytes: 1, fields }],
      looked_up_effect: [{ type: "lose-answer" }],
      find_effect: [{ type: "huge", bytes: 1, fields }],
    });
    await start();
    const { _id: planId } = await bench.submit({
      steps: [
        read,
        { id: "when", tool: "set_value", arguments: { value: 1 }, when: { eq: [seven, 7] } },
        {
          id: "items",
          forEach: {
            items: "<<read.items>>",
            as: "one",
            do: { tool: "set_value", arguments: { value: "<<one.id>>", seven } },
          },
        },
        {
          id: "batch",
          forEach: {
            items: [1, 2, 3, 4, 5],
            do: { tool: "limited_read", arguments: { value: ["<<item>>"], seven } },
          },
        },
        { id: "required", tool: "noop", arguments: {}, dependsOn: ["read"] },
        { id: "secret", tool: "set_value", arguments: { all: "<<read.fields>>", key: "secret://crm-key" } },
        { id: "lookup", tool: "looked_up_effect", arguments: { reference: "r", all: "<<read.fields>>" } },
        {
          id: "approval",
          tool: "keyed_effect",
          arguments: { value: 8, all: "<<read.fields>>" },
          approval: true,
        },
      ],
      outputs: {
        seven,
        list: "<<batch.results[*].data>>",
        looked: "<<lookup.tool>>",
        approved: "<<approval.value>>",
      },
      policy: { stepTimeoutMs: TIMEOUT_MS },
    });
    const waiting = async () => (await bench.steps(planId)).get("approval");
    await expect.poll(waiting, { timeout: TIMEOUT_MS }).toMatchObject({
      status: "WAITING_APPROVAL",
      arguments: { preview: expect.stringContaining('{"value":8,"all":{"f0":0,"f1":1,') },
    });
    const { approvalHash } = (await waiting()) ?? {};
    const decision = { approvalHash: approvalHash ?? "", approved: true, reason: null, by: "operator" };
    await bench.store.approveStep(TENANT, planId, { stepId: "approval", ...decision });
    const status = async () => (await bench.store.getPlan(TENANT, planId))?.status ?? "READY";
    await expect.poll(status, { timeout: TIMEOUT_MS }).not.toMatch(/READY|QUEUED|RUNNING|WAITING/);
    const { plan, steps } = await bench.end(planId);
    expect([plan.status, plan.outputs]).toEqual([
      "COMPLETED",
      { seven: 7, list: [1, 2, 3, 4, 5], looked: "looked_up_effect", approved: 8 },
    ]);
    const ended = [...steps.values()].map(({ key, status }) => [key, status]);
    expect(ended.filter(([, status]) => status !== "COMPLETED")).toEqual([]);
    expect(await longestMs()).toBeLessThan(readingMs(fields) / 2);
  });
