// @module-tag proof
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, peakMiB, type Workbench } from "./executor-process.ts";
import { healthPort } from "./health-port.ts";

/** The smallest value that the setting allows. */
const BUDGET = 16_777_216;
/** Each nearly of the largest size. */
const OUTPUTS = { count: 24, bytes: 7_900_000 };
const SMALL = { NODE_OPTIONS: "--max-old-space-size=170", OUTPUT_MEMORY_BYTES: String(BUDGET) };
/** About 365 are needed, and 490 if no output is dropped. The heap does not count outputs. */
const MAX_PEAK_MIB = 450;
/** The heap is so small that most of the time goes into collecting garbage. */
const TIMEOUT_MS = 600_000;
/**
 * The largest value that the setting allows: a machine that suspends an executor must not make it lose its
 * plans, because that is correct but not the subject.
 */
const NEVER_DEAD = { DEAD_AFTER_MS: "600000" };

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

/**
 * Large outputs one after the other, and at the end steps that refer to each of them, so that all are needed
 * until then.
 */
function largePlan() {
  const reads = Array.from({ length: OUTPUTS.count }, (_, index) => ({
    id: `read${index}`,
    tool: "read_value",
    arguments: { value: index },
  }));
  const last = reads.at(-1)?.id;
  const picks = reads.map((_, index) => ({
    id: `pick${index}`,
    tool: "keyed_effect",
    arguments: { value: `<<read${index}.value>>` },
    dependsOn: [last],
  }));
  return { steps: [...reads, ...picks], policy: { maxParallel: 1 } };
}

/**
 * Waits for so many reads. @throws {TypeError} when the executor exits before, for example because it is out
 * of memory
 */
async function untilRead(executor: ChildProcess, reads: number): Promise<void> {
  const ended = once(executor, "exit").then(([code, signal]) => {
    throw new TypeError(`The executor ended: ${code ?? signal}`);
  });
  const calls = () => bench.tools.stats()["read_value"]?.calls;
  const read = async (): Promise<void> => {
    await expect.poll(calls, { timeout: TIMEOUT_MS }).toBeGreaterThanOrEqual(reads);
  };
  await Promise.race([read(), ended]);
}

test(
  "a plan with more outputs than memory ends, also after a crash, and late steps get the outputs of early ones",
  async () => {
    const { count, bytes } = OUTPUTS;
    bench.tools.script({ read_value: Array.from({ length: count + 1 }, () => ({ type: "huge", bytes })) });
    // At the same address, so that the second takes over the work of the first at once.
    const { env } = await healthPort();
    const first = await bench.startProcess({ ...SMALL, ...NEVER_DEAD, ...env });
    const { _id: planId } = await bench.submit(largePlan());
    await untilRead(first, count - 2);
    expect(peakMiB(first)).toBeLessThan(MAX_PEAK_MIB);
    await bench.stopExecutor(first, "SIGKILL");
    await bench.startProcess({ ...SMALL, ...NEVER_DEAD, ...env });
    const { plan, steps } = await bench.end(planId);
    expect(plan).toMatchObject({ status: "COMPLETED", outputs: null, error: null });
    expect(steps.get("read0")).toMatchObject({ attempts: [{ attempt: 1 }] });
    const indices = Array.from({ length: count }, (_, index) => index);
    const picked = indices.map((index) => steps.get(`pick${index}`)?.output);
    expect(picked).toMatchObject(indices.map((value) => ({ value })));
  },
  TIMEOUT_MS,
);

test(
  "such a plan is CANCELLED within 10 s of the cancel",
  async () => {
    const { count, bytes } = OUTPUTS;
    bench.tools.script({ read_value: Array.from({ length: count }, () => ({ type: "huge", bytes })) });
    const child = await bench.startProcess({ ...SMALL, ...NEVER_DEAD });
    const { _id: planId } = await bench.submit(largePlan());
    await untilRead(child, count - 2);
    await bench.store.requestCancel("t1", planId, "client");
    const asked = performance.now();
    const { plan } = await bench.end(planId);
    expect(plan.status).toBe("CANCELLED");
    expect(performance.now() - asked).toBeLessThan(10_000);
  },
  TIMEOUT_MS,
);

test(
  "all plans together hold at most the budget in memory, and read dropped outputs again",
  async () => {
    const plans = 4;
    const reads = 10;
    const bytes = 1_500_000;
    const ids = Array.from({ length: reads }, (_, index) => index);
    const huge = Array.from({ length: plans * reads }, () => ({ type: "huge" as const, bytes }));
    // The gate call is sent when all outputs of its plan are stored and counted; it is repeated when the tool
    // server is back.
    const gates = Array.from({ length: plans }, () => ({ type: "hang" as const }));
    bench.tools.script({ read_value: huge, keyed_effect: gates });
    const { env, scrape } = await healthPort();
    await bench.startProcess({ ...env, ...NEVER_DEAD, OUTPUT_MEMORY_BYTES: String(BUDGET) });
    const submit = (plan: number) =>
      bench.submit([
        ...ids.map((id) => ({ id: `read${id}`, tool: "read_value", arguments: { value: [plan, id] } })),
        {
          id: "gate",
          tool: "keyed_effect",
          dependsOn: ids.map((id) => `read${id}`),
          timeoutMs: TIMEOUT_MS,
        },
        ...ids.map((id) => ({
          id: `use${id}`,
          tool: "set_value",
          arguments: { value: `<<read${id}.value>>` },
          dependsOn: ["gate"],
        })),
      ]);
    const submitted = await Promise.all(Array.from({ length: plans }, (_, plan) => submit(plan)));
    await expect.poll(() => bench.tools.stats()["keyed_effect"]?.calls, { timeout: TIMEOUT_MS }).toBe(plans);

    const series = await scrape();
    expect(series("lease_losses_total")).toBe(0);
    const held = series("output_bytes_held");
    expect(held).toBeLessThanOrEqual(BUDGET);
    // The budget is an upper bound: results that wait to be read are in memory too and come first, because
    // their tools have acted. Outputs that were dropped for them come back only when a step needs them. So
    // of 40 results that arrive together only the last ones are sure to be held: while the last is read, the
    // budget has room for two.
    expect(held).toBeGreaterThanOrEqual(2 * bytes);

    await bench.stopTools();
    await bench.startTools();
    for (const [plan, { _id }] of submitted.entries()) {
      const { plan: ended, steps } = await bench.end(_id);
      expect(ended.status).toBe("COMPLETED");
      const used = ids.map((id) => steps.get(`use${id}`)?.output);
      expect(used).toMatchObject(ids.map((id) => ({ value: [plan, id] })));
    }
    const value = await scrape();
    expect(value("output_bytes_read_total")).toBeGreaterThanOrEqual(plans * reads * bytes - BUDGET);
    expect(value("output_bytes_held")).toBe(0);
  },
  TIMEOUT_MS,
);
