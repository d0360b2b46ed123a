/** Timeouts of calls, with an executor process. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, type Workbench } from "./executor-process.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

test("the timeoutMs of a step overrides that of the policy", async () => {
  await bench.startExecutor();
  const plan = await bench.submit({
    steps: [{ id: "slow", tool: "read_value", arguments: { value: 1, latencyMs: 1_500 }, timeoutMs: 60_000 }],
    policy: { stepTimeoutMs: 200 },
  });
  const { plan: ended, steps } = await bench.end(plan._id);
  expect(ended.status).toBe("COMPLETED");
  expect(steps.get("slow")?.attempts).toHaveLength(1);
});

test("MAX_STEP_TIMEOUT_MS limits the timeoutMs of a step", async () => {
  await bench.startExecutor({ MAX_STEP_TIMEOUT_MS: "300" });
  const plan = await bench.submit({
    steps: [
      {
        id: "slow",
        tool: "read_value",
        arguments: { value: 1, latencyMs: 20_000 },
        timeoutMs: 60_000,
        retry: { maxAttempts: 1 },
      },
    ],
    policy: { stepTimeoutMs: 200 },
  });
  const { steps } = await bench.end(plan._id);
  expect(steps.get("slow")?.error).toMatchObject({
    code: "TOOL_TIMEOUT",
    message: expect.stringContaining("300 ms"),
  });
});
