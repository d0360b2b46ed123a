import type { PlanDocument } from "@planwright/store";
import { afterEach, expect, test } from "vitest";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

afterEach(async () => {
  await bench.close();
});

async function rerun(plan: PlanDocument, from: string | null = null): Promise<PlanDocument> {
  const answer = await bench.store.rerunPlan(TENANT, plan.requestId, { from, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  return answer.plan;
}

const keysOfEffects = async () => (await bench.tools.ledger()).map(({ key }) => key);
const requestOf = (plan: PlanDocument) => bench.store.getRequest(TENANT, plan.requestId);

const list = {
  id: "each",
  retry: { maxAttempts: 1 },
  forEach: {
    items: [10, 20, 30],
    concurrency: 1,
    errors: "collect",
    do: { tool: "keyed_effect", arguments: { value: "<<item>>" } },
  },
};
const readers = [
  { id: "told", tool: "read_value", arguments: { value: "<<each.summary.ok>>" } },
  { id: "mail", tool: "keyed_effect", arguments: { value: "<<told.value>>" } },
  { id: "after", tool: "keyed_effect", arguments: { value: "all" }, dependsOn: ["each", "mail"] },
];

/** The tool refuses the second item; the answer to the third is lost. */
async function runPartly(): Promise<PlanDocument> {
  bench = await openWorkbench();
  bench.tools.script({
    keyed_effect: [
      { type: "latency", ms: 0 },
      { type: "tool-error", message: "no" },
      { type: "lose-answer" },
    ],
  });
  await bench.startExecutor();
  const plan = await bench.submit([list, ...readers]);
  const { plan: ended, steps } = await bench.end(plan._id);
  expect(ended).toMatchObject({
    status: "PARTIAL",
    counts: { COMPLETED: 4 },
    error: { code: "ITEMS_FAILED" },
  });
  expect(steps.get("told")?.output).toMatchObject({ value: 1 });
  await expect.poll(() => requestOf(plan), { timeout: 10_000 }).toMatchObject({ status: "PARTIAL" });
  return plan;
}

test("a rerun of a list that completed in part calls only its failed items, under the same keys", async () => {
  const first = await runPartly();
  const second = await rerun(first);
  await expect
    .poll(async () => (await bench.steps(second._id)).get("mail")?.status, { timeout: 60_000 })
    .toBe("WAITING_APPROVAL");
  const steps = await bench.steps(second._id);
  expect(steps.get("each")).toMatchObject({ status: "COMPLETED", carriedFrom: null });
  expect(steps.get("each[0]")).toMatchObject({ status: "COMPLETED", carriedFrom: first._id });
  expect(steps.get("told")?.output).toMatchObject({ value: 3 });
  const mail = steps.get("mail")!;
  expect(mail.arguments?.value).toEqual({ value: 3 });
  const decision = {
    stepId: "mail",
    approvalHash: mail.approvalHash ?? "",
    approved: true,
    reason: null,
    by: "o",
  };
  expect((await bench.store.approveStep(TENANT, second._id, decision)).type).toBe("recorded");
  const { plan } = await bench.end(second._id);
  expect(plan).toMatchObject({ status: "COMPLETED", error: null });
  expect(plan.outputs?.["each"]).toMatchObject({ summary: { ok: 3, error: 0 } });
  expect(await keysOfEffects()).toEqual([
    `${first._id}/each[0]`,
    `${first._id}/each[2]`,
    `${first._id}/mail`,
    `${first._id}/after`,
    `${first._id}/each[1]`,
    `${second._id}/mail`,
  ]);
  expect(await bench.store.rerunPlan(TENANT, first.requestId, { from: null, autoExecute: true })).toEqual({
    type: "nothing failed",
  });
});

test("a rerun from such a list calls only its failed items, and without an approval the dependent steps whose arguments changed", async () => {
  const first = await runPartly();
  const second = await rerun(first, "each");
  expect((await bench.end(second._id)).plan.status).toBe("COMPLETED");
  expect((await keysOfEffects()).slice(4)).toEqual([`${first._id}/each[1]`, `${second._id}/mail`]);
  expect((await bench.steps(second._id)).get("after")).toMatchObject({ carriedFrom: first._id });
});

test("an item that the list's condition skips is never sent, also by a rerun of the failed items", async () => {
  bench = await openWorkbench();
  bench.tools.script({ keyed_effect: [{ type: "tool-error", message: "no" }] });
  await bench.startExecutor();
  const forEach = { ...list.forEach, when: { gt: ["<<item>>", "<<least.value>>"] } };
  const steps = [
    { id: "least", tool: "read_value", arguments: { value: 10 } },
    { ...list, forEach },
    readers[0]!,
  ];
  const first = await bench.submit(steps);
  const ended = await bench.end(first._id);
  expect(ended.plan).toMatchObject({
    status: "PARTIAL",
    error: { message: expect.stringContaining("1 of 2 items") },
  });
  const skipped = { status: "SKIPPED", error: { code: "CONDITION_FALSE" }, attempts: [] };
  expect(ended.steps.get("each[0]")).toMatchObject(skipped);
  const second = await bench.end((await rerun(first))._id);
  expect(second.plan.outputs?.["each"]).toMatchObject({
    results: [
      { index: 1, status: "ok" },
      { index: 2, status: "ok" },
    ],
    summary: { ok: 2, error: 0, skipped: 1 },
  });
  expect(second.steps.get("each[0]")).toMatchObject(skipped);
  expect(await keysOfEffects()).toEqual([`${first._id}/each[2]`, `${first._id}/each[1]`]);
  expect(await bench.store.rerunPlan(TENANT, first.requestId, { from: null, autoExecute: true })).toEqual({
    type: "nothing failed",
  });
});

test("items that fail again leave the new version PARTIAL, and can be rerun", async () => {
  const first = await runPartly();
  bench.tools.script({ keyed_effect: [{ type: "tool-error" }] });
  const second = await rerun(first, "each");
  expect((await bench.end(second._id)).plan.status).toBe("PARTIAL");
  const third = await rerun(second, "each");
  expect((await bench.end(third._id)).plan.status).toBe("COMPLETED");
  expect((await keysOfEffects()).filter((key) => key?.includes("each"))).toEqual([
    `${first._id}/each[0]`,
    `${first._id}/each[2]`,
    `${first._id}/each[1]`,
  ]);
});

test("a batch whose answers were all lost keeps its key when the list is rerun", async () => {
  const batch = { param: "value", max: 10, result_path: "value" };
  bench = await openWorkbench({}, { tools: { keyed_effect: { batch } } });
  bench.tools.script({ keyed_effect: [{ type: "lose-answer" }, { type: "lose-answer" }] });
  await bench.startExecutor();
  const call = { tool: "keyed_effect", arguments: { value: ["<<item>>"] } };
  const steps = [
    { id: "each", retry: { maxAttempts: 2, initialMs: 1 }, forEach: { items: [1, 2, 3, 4], do: call } },
  ];
  const failed = await bench.submit(steps);
  await bench.until(failed._id, ({ waitReason }) => waitReason === "in doubt");
  await bench.store.requestCancel(TENANT, failed._id, "client");
  expect((await bench.end(failed._id)).plan.status).toBe("CANCELLED");
  const { plan } = await bench.end((await rerun(failed))._id);
  expect(plan.outputs?.["each"]).toMatchObject({ summary: { ok: 4, error: 0 } });
  expect(await keysOfEffects()).toEqual([`${failed._id}/each[0..3]`]);
});
