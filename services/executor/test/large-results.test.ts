import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isTerminalPlanStatus, parsePlan } from "@planwright/plan";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, type Workbench } from "./executor-process.ts";
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

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

/** An executor with its health port. */
async function startExecutor(env: Record<string, string> = {}) {
  const health = await healthPort();
  const child = await bench.startExecutor({ ...health.env, DEAD_AFTER_MS: "5000", ...env });
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

/** The most memory that a process has had, in MiB. */
function peakMiB({ pid }: ChildProcess): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1_024;
}

test(
  "four results of 600,000 fields at once block no event loop: small calls of another tenant complete",
  async () => {
    const results = Array.from({ length: 4 }, () => ({ type: "huge" as const, bytes: 1, fields: 600_000 }));
    bench.tools.script({ read_value: results });
    const { scrape, lagSeconds } = await startExecutor();
    const steps = results.map((_, index) => ({ id: `read${index}`, tool: "read_value" }));
    const { _id: planId } = await bench.submit({
      steps: [...steps, { id: "use", tool: "set_value", arguments: { value: "<<read3.fields.f77>>" } }],
      policy: { stepTimeoutMs: TIMEOUT_MS },
    });
    const small = await callBeside(planId);
    expect(await statusesOf(small)).toEqual({ COMPLETED: small.length });
    const { plan, steps: ended } = await bench.end(planId);
    expect(plan.status).toBe("COMPLETED");
    expect(ended.get("use")?.output).toMatchObject({ value: 7 });
    expect((await scrape())("lease_losses_total")).toBe(0);
    expect(await lagSeconds()).toBeLessThan(MAX_LAG_SECONDS);
  },
  TIMEOUT_MS,
);

test(
  "steps that insert a large output nine times wait for memory, and small calls of another tenant complete",
  async () => {
    const bytes = 3_000_000;
    const count = 12;
    bench.tools.script({ read_value: [{ type: "huge", bytes }] });
    const { child, scrape, lagSeconds } = await startExecutor({ OUTPUT_MEMORY_BYTES: String(33_554_432) });
    const nine = Array.from({ length: 9 }, () => "<<read>>");
    const uses = Array.from({ length: count }, (_, index) => ({
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
    expect(steps.get("use5")).toMatchObject({
      output: { value: 5 },
      arguments: null,
      argumentsPreview: { sizeBytes: expect.closeTo(9 * bytes, -4) },
    });
    expect(peakMiB(child)).toBeLessThan(900);
    expect((await scrape())("lease_losses_total")).toBe(0);
    expect(await lagSeconds()).toBeLessThan(MAX_LAG_SECONDS);
  },
  TIMEOUT_MS,
);
