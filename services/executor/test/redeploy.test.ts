/** A tool server that is redeployed: stopped, and started again later. */
import { eventually } from "@planwright/testing";
import { expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, type Workbench } from "./executor-process.ts";

/** One attempt, so that a plan fails if an unsent try counts as an attempt. */
const ONCE = { maxAttempts: 1, initialMs: 50, maxMs: 200 };

/** Two calls that may act only once follow a call that is running when the server stops. */
const planOf = (value: number) => [
  {
    id: "look",
    tool: "read_value",
    arguments: { value },
    retry: { ...ONCE, maxAttempts: 2 },
  },
  { id: "plain", tool: "plain_effect", arguments: { value: "<<look.value>>" }, retry: ONCE },
  {
    id: "keyed",
    tool: "keyed_effect",
    arguments: { value: "<<look.value>>" },
    dependsOn: ["plain"],
    retry: ONCE,
  },
];

/** Waits until a step has been tried so often while its server is down. */
async function untilTried(bench: Workbench, planId: string, stepId: string, tries: number): Promise<void> {
  await expect
    .poll(async () => (await bench.steps(planId)).get(stepId)?.attempts.at(-1)?.unsent?.tries ?? 0, {
      timeout: 60_000,
    })
    .toBeGreaterThanOrEqual(tries);
}

test("a redeploy of a tool server fails no plan, and every effect happens once, even when the executor is replaced meanwhile", async () => {
  const bench = await openWorkbench();
  try {
    bench.tools.script({ read_value: [1, 2, 3].map(() => ({ type: "hang" as const })) });
    const executor = await bench.startProcess(SOON_DEAD);
    const running = await Promise.all([1, 2, 3].map((value) => bench.submit(planOf(value))));
    for (const { _id } of running) {
      await expect
        .poll(async () => (await bench.steps(_id)).get("look")?.status, { timeout: 30_000 })
        .toBe("RUNNING");
    }
    await bench.stopTools();
    const late = await bench.submit([
      { id: "plain", tool: "plain_effect", arguments: { value: 4 }, retry: ONCE },
    ]);
    // Between two tries: during a try the step is RUNNING.
    const step = await eventually(async () => {
      const found = (await bench.steps(late._id)).get("plain");
      const tries = found?.attempts.at(-1)?.unsent?.tries ?? 0;
      return found?.status === "RETRYING" && tries >= 3 ? found : null;
    });
    expect(step).toMatchObject({ waitReason: "backoff", error: { code: "TOOL_UNREACHABLE" } });
    expect(step?.nextAttemptAt).toBeInstanceOf(Date);
    expect(step?.attempts).toHaveLength(1);

    await bench.stopExecutor(executor, "SIGTERM");
    await bench.startExecutor();
    const seen = step?.attempts[0]?.unsent?.tries ?? 0;
    await untilTried(bench, late._id, "plain", seen + 1);
    expect((await bench.steps(late._id)).get("plain")?.attempts[0]?.unsent?.since).toEqual(
      step?.attempts[0]?.unsent?.since,
    );

    await bench.startTools();
    for (const { _id } of [...running, late]) {
      const { plan } = await bench.end(_id);
      expect(plan).toMatchObject({ status: "COMPLETED" });
    }
    const effects = (await bench.tools.ledger()).map(
      ({ tool, arguments: args }) => `${tool} ${JSON.stringify(args["value"])}`,
    );
    expect(effects.toSorted()).toEqual([
      "keyed_effect 1",
      "keyed_effect 2",
      "keyed_effect 3",
      "plain_effect 1",
      "plain_effect 2",
      "plain_effect 3",
      "plain_effect 4",
    ]);
  } finally {
    await bench.close();
  }
});

test("a plan that has waited for a server as long as its policy allows fails with the server's name", async () => {
  const bench = await openWorkbench();
  try {
    await bench.startExecutor();
    await bench.stopTools();
    const plan = await bench.submit({
      steps: [{ id: "plain", tool: "plain_effect", arguments: { value: 1 }, retry: ONCE }],
      policy: { unreachableMs: 300 },
    });
    const ended = await bench.end(plan._id);
    expect(ended.plan.status).toBe("FAILED");
    const { error, attempts } = ended.steps.get("plain") ?? {};
    expect(error?.code).toBe("TOOL_UNREACHABLE");
    expect(error?.message).toMatch(/^Server counting cannot be reached: .*\(tried \d+ times since 20\S+Z\)$/);
    expect(attempts).toHaveLength(1);
  } finally {
    await bench.close();
  }
});
