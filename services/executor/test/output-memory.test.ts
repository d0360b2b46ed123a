import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SHORT_LEASE, type Workbench } from "./executor-process.ts";

/** Each as large as an output may nearly be; all of them together more than the executor's heap. */
const OUTPUTS = { count: 24, bytes: 7_900_000 };
const SMALL = { NODE_OPTIONS: "--max-old-space-size=170", OUTPUT_MEMORY_BYTES: "16777216" };
const PATIENCE_MS = 300_000;

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

/** Large outputs one after the other, and at the end steps that refer to the first ones. */
function largePlan() {
  const reads = Array.from({ length: OUTPUTS.count }, (_, index) => ({
    id: `read${index}`,
    tool: "read_value",
    arguments: { value: index },
  }));
  const last = reads.at(-1)?.id;
  const picks = [0, 1, 2, 3, 4, 5].map((index) => ({
    id: `pick${index}`,
    tool: "keyed_effect",
    arguments: { value: `<<read${index}.value>>` },
    dependsOn: [last],
  }));
  return { steps: [...reads, ...picks], policy: { maxParallel: 1 } };
}

test(
  "a plan with more outputs than memory ends, also after a crash, and late steps get what early ones gave",
  async () => {
    const { count, bytes } = OUTPUTS;
    bench.tools.script({ read_value: Array.from({ length: count + 1 }, () => ({ type: "huge", bytes })) });
    const first = await bench.startExecutor({ ...SMALL, ...SHORT_LEASE });
    const { _id: planId } = await bench.submit(largePlan());
    await expect
      .poll(() => bench.tools.stats()["read_value"]?.calls, { timeout: PATIENCE_MS })
      .toBeGreaterThan(count - 3);
    await bench.stopExecutor(first, "SIGKILL");
    await bench.startExecutor(SMALL);
    const { plan, steps } = await bench.end(planId);
    expect(plan).toMatchObject({ status: "COMPLETED", outputs: null, error: null });
    expect(steps.get("read0")).toMatchObject({ attempts: [{ attempt: 1 }] });
    const picked = [0, 1, 2, 3, 4, 5].map((index) => steps.get(`pick${index}`)?.output);
    expect(picked).toMatchObject([0, 1, 2, 3, 4, 5].map((value) => ({ value })));
  },
  PATIENCE_MS,
);

test(
  "such a plan is CANCELLED within 10 s of the word",
  async () => {
    const { count, bytes } = OUTPUTS;
    bench.tools.script({ read_value: Array.from({ length: count }, () => ({ type: "huge", bytes })) });
    await bench.startExecutor(SMALL);
    const { _id: planId } = await bench.submit(largePlan());
    await expect
      .poll(() => bench.tools.stats()["read_value"]?.calls, { timeout: PATIENCE_MS })
      .toBeGreaterThan(count - 3);
    await bench.store.requestCancel("t1", planId);
    const asked = performance.now();
    const { plan } = await bench.end(planId);
    expect(plan.status).toBe("CANCELLED");
    expect(performance.now() - asked).toBeLessThan(10_000);
  },
  PATIENCE_MS,
);
