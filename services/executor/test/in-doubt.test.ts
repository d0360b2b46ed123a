import type { Resolution } from "@planwright/engine";
import { testAndProof } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

/** A plan whose first step is in doubt: its effect happened, and its answer was lost. The plan has parked. */
async function inDoubt(): Promise<string> {
  bench.tools.script({ plain_effect: [{ type: "lose-answer" }] });
  await bench.startExecutor();
  const { _id: planId } = await bench.submit([
    { id: "effect", tool: "plain_effect", arguments: { value: 7 } },
    { id: "after", tool: "read_value", arguments: { value: "<<effect.value>>" } },
  ]);
  await expect.poll(async () => (await bench.store.getPlan(TENANT, planId))?.status).toBe("WAITING");
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ lease: null, waitReason: "in doubt" });
  return planId;
}

const resolve = (planId: string, resolution: Resolution) =>
  bench.store.resolveUnits(TENANT, planId, { by: "operator", decisions: [{ key: "effect", resolution }] });

test("an operator who knows that the call happened gives the output, and the plan continues with it", async () => {
  const planId = await inDoubt();
  await resolve(planId, { type: "completed", output: { value: "by hand" } });
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("after")).toMatchObject({ arguments: { value: { value: "by hand" } } });
  expect(await bench.tools.ledger()).toHaveLength(1);
});

test("an operator who knows that the call failed ends the step with the reason", async () => {
  const planId = await inDoubt();
  const error = { code: "TOOL_FAILED", message: "the bank says no", retryable: false };
  await resolve(planId, { type: "failed", error });
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("FAILED");
  expect(steps.get("effect")).toMatchObject({ status: "FAILED", error });
  expect(steps.get("after")?.status).toBe("SKIPPED");
});

test("decisions that come together all apply, although a list could end with the first", async () => {
  bench.tools.script({ plain_effect: Array.from({ length: 3 }, () => ({ type: "lose-answer" as const })) });
  await bench.startExecutor();
  const { _id: planId } = await bench.submit([
    {
      id: "each",
      forEach: {
        items: ["a", "b", "c"],
        concurrency: 3,
        errors: "collect",
        do: { tool: "plain_effect", arguments: { value: "<<item>>" } },
      },
    },
  ]);
  const parked = async () => (await bench.store.getPlan(TENANT, planId))?.status;
  await expect.poll(parked).toBe("WAITING");
  const error = { code: "TOOL_FAILED", message: "never sent", retryable: false };
  const { type } = await bench.store.resolveUnits(TENANT, planId, {
    by: "operator",
    decisions: [
      { key: "each[0]", resolution: { type: "completed", output: { value: "by hand" } } },
      { key: "each[1]", resolution: { type: "retry" } },
      { key: "each[2]", resolution: { type: "failed", error } },
    ],
  });
  expect(type).toBe("recorded");
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("PARTIAL");
  expect(steps.get("each[0]")).toMatchObject({ status: "COMPLETED", output: { value: "by hand" } });
  expect(steps.get("each[1]")).toMatchObject({ status: "COMPLETED", output: { value: "b" } });
  expect(steps.get("each[2]")).toMatchObject({ status: "FAILED", error });
  expect(await bench.tools.ledger()).toHaveLength(4);
});

const ODD_ANSWERS: [form: "nulls" | "bare" | "text", warnings: string[]][] = [
  ["nulls", []],
  ["bare", ["OUTPUT_UNEXPECTED: content: declared a list of blocks, returned nothing"]],
  ["text", ["OUTPUT_UNEXPECTED: content: declared a list of blocks, returned a text"]],
];
for (const { cases, options } of testAndProof(ODD_ANSWERS, ([form]) => form, ["text"]))
  test.each(cases)(
    "an answer in the odd form '%s' completes its step, with a warning in its record",
    options,
    async (form, warnings) => {
      bench.tools.script({ plain_effect: [{ type: "odd-answer", form }] });
      await bench.startExecutor();
      const { _id: planId } = await bench.submit([
        { id: "effect", tool: "plain_effect", arguments: { value: 7 } },
        { id: "after", tool: "read_value", arguments: { value: "<<effect.value>>" } },
      ]);
      const { plan, steps } = await bench.end(planId);
      expect(plan.status).toBe("COMPLETED");
      expect(steps.get("effect")).toMatchObject({ status: "COMPLETED", warnings });
      expect(steps.get("after")).toMatchObject({ arguments: { value: { value: 7 } } });
      expect(await bench.tools.ledger()).toHaveLength(1);
    },
  );

test("the answer of the look-up ends the attempt of a call of class V whose answer was lost", async () => {
  bench.tools.script({ looked_up_effect: [{ type: "lose-answer" }] });
  await bench.startExecutor();
  const { _id: planId } = await bench.submit([
    { id: "effect", tool: "looked_up_effect", arguments: { value: 7, reference: "r1" } },
  ]);
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("effect")?.attempts).toMatchObject([
    { attempt: 1, outcome: "unknown", endedAt: expect.any(Date), error: { code: "TOOL_CONNECTION_LOST" } },
    { attempt: 2, outcome: "completed", endedAt: expect.any(Date), error: null },
  ]);
});

test("an attempt whose executor was killed ends when the next executor has an answer", async () => {
  const first = await bench.startProcess(SOON_DEAD);
  const { _id: planId } = await bench.submit([
    { id: "effect", tool: "looked_up_effect", arguments: { value: 7, reference: "r2", latencyMs: 3_000 } },
  ]);
  await expect.poll(async () => (await bench.steps(planId)).get("effect")?.attempts.length).toBe(1);
  await bench.stopExecutor(first, "SIGKILL");
  await bench.startExecutor();
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  const attempts = steps.get("effect")?.attempts ?? [];
  expect(attempts[0]).toMatchObject({ attempt: 1, outcome: "unknown", error: { code: "EXECUTOR_LOST" } });
  expect(attempts.map(({ endedAt }) => endedAt)).toEqual(attempts.map(() => expect.any(Date)));
});

test("an operator can request one more attempt, and a new doubt needs a new resolution", async () => {
  const planId = await inDoubt();
  bench.tools.script({ plain_effect: [{ type: "lose-answer" }] });
  await resolve(planId, { type: "retry" });
  await expect
    .poll(async () => {
      const effect = (await bench.steps(planId)).get("effect");
      return `${effect?.status} ${effect?.attempts.length}`;
    })
    .toBe("IN_DOUBT 2");
  await expect.poll(async () => (await bench.store.getPlan(TENANT, planId))?.status).toBe("WAITING");
  await resolve(planId, { type: "retry" });
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("effect")?.attempts.map(({ outcome }) => outcome)).toEqual([
    "unknown",
    "unknown",
    "completed",
  ]);
  expect(await bench.tools.ledger()).toHaveLength(3);
});
