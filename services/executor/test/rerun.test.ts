import { parsePlan } from "@planwright/plan";
import type { ArgumentChange, PlanDocument } from "@planwright/store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

const chain = [
  { id: "first", tool: "keyed_effect", arguments: { value: 1 } },
  { id: "second", tool: "keyed_effect", arguments: { value: "<<first.value>>" } },
  { id: "third", tool: "keyed_effect", arguments: { value: "<<second.value>>" } },
];

async function rerun(
  plan: PlanDocument,
  from: string | null = null,
  changes: readonly ArgumentChange[] = [],
): Promise<PlanDocument> {
  const answer = await bench.store.rerunPlan(TENANT, plan.requestId, { from, autoExecute: true, changes });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  return answer.plan;
}

const effects = async () => (await bench.tools.ledger()).map(({ key }) => String(key).replace(/^.*\//, ""));

test("a rerun of a failed plan calls no completed step again, and continues with its output", async () => {
  bench.tools.script({
    keyed_effect: [
      { type: "latency", ms: 0 },
      { type: "tool-error", message: "not today" },
    ],
  });
  await bench.startExecutor();
  const failed = await bench.submit(chain);
  expect((await bench.end(failed._id)).plan.status).toBe("FAILED");
  const again = await rerun(failed);
  const { plan, steps } = await bench.end(again._id);
  expect(plan).toMatchObject({ status: "COMPLETED", version: 2, counts: { COMPLETED: 3 } });
  expect(steps.get("first")).toMatchObject({ carriedFrom: failed._id, attempts: [{ outcome: "completed" }] });
  expect(steps.get("third")?.output).toMatchObject({ value: 1 });
  expect(await effects()).toEqual(["first", "second", "third"]);
  const keys = (await bench.tools.ledger()).map(({ key }) => String(key).split("/")[0]);
  // The tool answered the second call with an error and may have acted, so it gets the same key again.
  expect(keys).toEqual([failed._id, failed._id, again._id]);
  await expect
    .poll(() => bench.store.getRequest(TENANT, failed.requestId), { timeout: 10_000 })
    .toMatchObject({ status: "COMPLETED", version: 2 });
});

test("an error after the effect is no refusal: under its key the call acts once, over any number of versions", async () => {
  bench.tools.script({
    keyed_effect: [{ type: "error-after-effect" }, { type: "tool-error" }, { type: "tool-error" }],
  });
  await bench.startExecutor();
  const first = await bench.submit([{ id: "pay", tool: "keyed_effect", arguments: { value: 1 } }]);
  const { steps } = await bench.end(first._id);
  expect(steps.get("pay")).toMatchObject({ status: "FAILED", effect: "possible" });
  let plan = first;
  for (const status of ["FAILED", "FAILED", "COMPLETED"]) {
    plan = await rerun(plan);
    expect((await bench.end(plan._id)).plan.status).toBe(status);
  }
  expect(await bench.tools.ledger()).toMatchObject([{ effect: 1, key: `${first._id}/pay` }]);
});

test("a call without a key that failed after its effect is called again only when its step is named", async () => {
  bench.tools.script({ plain_effect: [{ type: "error-after-effect" }] });
  await bench.startExecutor();
  const failed = await bench.submit([
    { id: "pay", tool: "plain_effect", arguments: { value: 1 } },
    { id: "tell", tool: "plain_effect", arguments: { value: "<<pay.value>>" } },
  ]);
  const { steps } = await bench.end(failed._id);
  expect(steps.get("pay")).toMatchObject({ status: "FAILED", effect: "possible" });
  const again = (acceptRepeat: string[]) =>
    bench.store.rerunPlan(TENANT, failed.requestId, { from: null, autoExecute: true, acceptRepeat });
  for (const named of [[], ["tell"]])
    expect(await again(named)).toEqual({ type: "repeat not accepted", keys: ["pay"] });
  // The same call under another step id is a repeat too.
  const amendWithRenamed = () => {
    const parsed = parsePlan([{ id: "renamed", tool: "plain_effect", arguments: { value: 1 } }]);
    if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
    const amended = { plan: parsed.plan, raw: "", diagnostics: [], autoExecute: false };
    return bench.store.amendPlan(TENANT, failed.requestId, amended);
  };
  expect(await amendWithRenamed()).toEqual({ type: "repeat not accepted", keys: ["renamed"] });
  expect(await bench.tools.ledger()).toHaveLength(1);
  const answer = await again(["pay"]);
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  const end = await bench.end(answer.plan._id);
  expect(end.plan.status).toBe("COMPLETED");
  expect((await bench.tools.ledger()).map(({ arguments: args }) => args["value"])).toEqual([1, 1, 1]);
});

test("a rerun from a step calls it and its dependent steps, with new keys", async () => {
  await bench.startExecutor();
  const done = await bench.submit(chain);
  await bench.end(done._id);
  const again = await rerun(done, "second");
  expect((await bench.end(again._id)).plan.status).toBe("COMPLETED");
  expect(await effects()).toEqual(["first", "second", "third", "second", "third"]);
});

test("a rerun of a list calls the failed items, and the output contains all items", async () => {
  bench.tools.script({ keyed_effect: [{ type: "latency", ms: 0 }, { type: "tool-error" }] });
  await bench.startExecutor();
  const failed = await bench.submit([
    {
      id: "each",
      forEach: {
        items: [1, 2, 3],
        concurrency: 1,
        errors: "collect",
        minSuccess: 3,
        do: { tool: "keyed_effect", arguments: { value: "<<item>>" } },
      },
    },
  ]);
  expect((await bench.end(failed._id)).plan.status).toBe("FAILED");
  const { plan } = await bench.end((await rerun(failed))._id);
  expect(plan.outputs?.["each"]).toMatchObject({
    results: [{ data: { value: 1 } }, { data: { value: 2 } }, { data: { value: 3 } }],
    summary: { ok: 3, error: 0 },
  });
  expect(await effects()).toEqual(["each[0]", "each[2]", "each[1]"]);
});

test("a rerun whose executor dies continues where it stopped", async () => {
  bench.tools.script({
    keyed_effect: [{ type: "latency", ms: 0 }, { type: "tool-error" }, { type: "hang", effect: true }],
  });
  const first = await bench.startExecutor(SOON_DEAD);
  const failed = await bench.submit(chain);
  await bench.end(failed._id);
  const again = await rerun(failed);
  await expect.poll(effects).toEqual(["first", "second"]);
  await bench.stopExecutor(first, "SIGKILL");
  await bench.startExecutor();
  expect((await bench.end(again._id)).plan.status).toBe("COMPLETED");
  expect(await effects()).toEqual(["first", "second", "third"]);
});

test("a call whose answers were all lost happens once, even when the plan is rerun", async () => {
  bench.tools.script({ keyed_effect: [{ type: "lose-answer" }, { type: "lose-answer" }] });
  await bench.startExecutor();
  const retry = { maxAttempts: 2, initialMs: 1 };
  const failed = await bench.submit([{ id: "only", tool: "keyed_effect", arguments: { value: 1 }, retry }]);
  await bench.until(failed._id, ({ waitReason }) => waitReason === "in doubt");
  await bench.store.requestCancel(TENANT, failed._id, "client");
  expect((await bench.end(failed._id)).plan.status).toBe("CANCELLED");
  const { plan, steps } = await bench.end((await rerun(failed))._id);
  expect(plan.status).toBe("COMPLETED");
  expect(steps.get("only")?.output).toMatchObject({ value: 1 });
  expect((await bench.tools.ledger()).map(({ effect, key }) => [effect, key])).toEqual([
    [1, `${failed._id}/only`],
  ]);
});

test("a rerun with other arguments calls the changed step with a new key, and no completed step", async () => {
  bench.tools.script({
    keyed_effect: [
      { type: "latency", ms: 0 },
      { type: "tool-error", message: "not this value" },
    ],
  });
  await bench.startExecutor();
  const failed = await bench.submit(chain);
  expect((await bench.end(failed._id)).plan.status).toBe("FAILED");
  const again = await rerun(failed, null, [{ stepId: "second", set: { value: "<<first.value>> and more" } }]);
  expect((await bench.end(again._id)).plan.status).toBe("COMPLETED");
  const ledger = await bench.tools.ledger();
  expect(ledger.map(({ key, arguments: args }) => [key, args["value"]])).toEqual([
    [`${failed._id}/first`, 1],
    [`${again._id}/second`, "1 and more"],
    [`${again._id}/third`, "1 and more"],
  ]);
});

test("a step whose answer was lost keeps its arguments until a call with its key is answered", async () => {
  bench.tools.script({ keyed_effect: [{ type: "lose-answer" }] });
  await bench.startExecutor();
  const lost = await bench.submit([
    { id: "pay", tool: "keyed_effect", arguments: { value: 1 }, retry: { maxAttempts: 1 } },
  ]);
  await bench.until(lost._id, ({ waitReason }) => waitReason === "in doubt");
  await bench.store.requestCancel(TENANT, lost._id, "client");
  expect((await bench.end(lost._id)).plan.status).toBe("CANCELLED");
  const answer = await bench.store.rerunPlan(TENANT, lost.requestId, {
    from: null,
    autoExecute: true,
    changes: [{ stepId: "pay", set: { value: 2 } }],
  });
  expect(answer).toEqual({ type: "may have acted", keys: ["pay"] });
  const again = await rerun(lost);
  expect((await bench.end(again._id)).plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toMatchObject([{ key: `${lost._id}/pay`, arguments: { value: 1 } }]);
});
