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

test("a rerun from a completed step with an effect needs its name, and repeats no other effect", async () => {
  await bench.startExecutor();
  const done = await bench.submit(chain);
  await bench.end(done._id);
  const again = (acceptRepeat: string[], dryRun = false) =>
    bench.store.rerunPlan(TENANT, done.requestId, {
      from: "second",
      autoExecute: true,
      acceptRepeat,
      dryRun,
    });
  for (const isDry of [true, false])
    expect(await again(["third"], isDry)).toEqual({ type: "repeat not accepted", keys: ["second"] });
  const answer = await again(["second"]);
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  const { plan, steps } = await bench.end(answer.plan._id);
  expect(plan).toMatchObject({ status: "COMPLETED", outputs: { third: { value: 1 } } });
  expect(steps.get("third")).toMatchObject({ carriedFrom: done._id, status: "COMPLETED" });
  expect(await effects()).toEqual(["first", "second", "third", "second"]);
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
  const first = await bench.startProcess(SOON_DEAD);
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

const WORDS = "a finished effect is finished in every version: ";
const pay = (id: string, value: unknown = 5, more: object = {}) => ({
  id,
  tool: "plain_effect",
  arguments: { value },
  ...more,
});

async function amend(
  { requestId }: PlanDocument,
  steps: readonly object[],
  acceptRepeat: readonly string[] = [],
) {
  const parsed = parsePlan(steps);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const amended = { plan: parsed.plan, raw: "", diagnostics: [], autoExecute: true, acceptRepeat };
  return bench.store.amendPlan(TENANT, requestId, amended);
}

async function amended(plan: PlanDocument, steps: readonly object[], acceptRepeat: readonly string[] = []) {
  const answer = await amend(plan, steps, acceptRepeat);
  if (answer.type !== "amended") throw new TypeError(JSON.stringify(answer));
  return { ...answer, ...(await bench.end(answer.plan._id)) };
}

test(`${WORDS}removed and restored, renamed, with other limits, and behind a read that runs again`, async () => {
  await bench.startExecutor();
  const quote = (path: string) => ({ id: "quote", tool: "read_value", arguments: { value: { [path]: 5 } } });
  const first = [pay("pay"), quote("a"), pay("fee", "<<quote.value.a>>", { tool: "keyed_effect" })];
  const v1 = await bench.submit(first);
  expect((await bench.end(v1._id)).plan.status).toBe("COMPLETED");
  const without = await amended(v1, [{ id: "broken", tool: "no_such_tool", arguments: {} }]);
  expect(without).toMatchObject({ carried: [], plan: { status: "FAILED" } });
  const restored = await amended(v1, first);
  expect(restored).toMatchObject({ carried: ["pay", "quote", "fee"], notRepeated: ["pay", "fee"] });
  // The read runs again and answers the same: only then is it known that the call of `cost` is done.
  const changed = await amended(v1, [
    quote("b"),
    pay("cost", "<<quote.value.b>>", { tool: "keyed_effect", dependsOn: ["paid"] }),
    pay("paid", 5, { timeoutMs: 7_000, retry: { maxAttempts: 1 } }),
  ]);
  expect(changed).toMatchObject({ carried: ["paid"], repeated: [], plan: { status: "COMPLETED" } });
  expect(changed.steps.get("paid")).toMatchObject({ carriedFrom: v1._id, output: { value: 5 } });
  expect(changed.steps.get("cost")).toMatchObject({ carriedFrom: v1._id, status: "COMPLETED" });
  expect(changed.plan.outputs).toMatchObject({ cost: { value: 5 }, paid: { value: 5 } });
  expect(await bench.tools.ledger()).toHaveLength(2);
  // Beside the done one, the same call again is a repeat.
  expect(await amend(v1, [pay("paid"), pay("twice")])).toEqual({
    type: "repeat not accepted",
    keys: ["twice"],
  });
  const twice = await amended(v1, [pay("paid"), pay("twice")], ["twice"]);
  expect(twice).toMatchObject({ carried: ["paid"], plan: { status: "COMPLETED" } });
  expect(await bench.tools.ledger()).toHaveLength(3);
});

test(`${WORDS}items of a list that has changed, also in batches`, { tags: ["proof"] }, async () => {
  await bench.close();
  const batch = { param: "value", max: 10, result_path: "value" };
  bench = await openWorkbench({}, { tools: { keyed_effect: { batch } } });
  await bench.startExecutor();
  const each = (items: number[]) => ({
    id: "each",
    forEach: { items, do: { tool: "plain_effect", arguments: { value: "<<item>>" } } },
  });
  const many = (items: number[]) => ({
    id: "many",
    forEach: { items, do: { tool: "keyed_effect", arguments: { value: ["<<item>>"] } } },
  });
  const v1 = await bench.submit([each([1, 2, 3]), many([1, 2, 3, 4])]);
  expect((await bench.end(v1._id)).plan.status).toBe("COMPLETED");
  const before = (await bench.tools.ledger()).length;
  const next = await amended(v1, [each([3, 9, 2]), many([9, 4, 3, 2, 1])]);
  expect(next.plan).toMatchObject({
    status: "COMPLETED",
    outputs: { each: { results: [{ data: { value: 3 } }, { data: { value: 9 } }, { data: { value: 2 } }] } },
  });
  const made = (await bench.tools.ledger()).slice(before);
  const valueOf = (name: string) =>
    made.filter(({ tool }) => tool === name).map(({ arguments: args }) => args["value"]);
  expect([valueOf("keyed_effect"), valueOf("plain_effect")]).toEqual([[[9]], [9]]);
});

test("a call that may have acted does not act again under another step id", async () => {
  bench.tools.script({
    keyed_effect: [{ type: "error-after-effect" }],
    plain_effect: [{ type: "error-after-effect" }],
  });
  await bench.startExecutor();
  const first = [
    { id: "text", tool: "read_value", arguments: { value: 5 } },
    pay("keyed", 5, { tool: "keyed_effect", onError: "fail-forward" }),
    pay("plain", 5, { onError: "fail-forward" }),
  ];
  const v1 = await bench.submit(first);
  await bench.end(v1._id);
  const renamed = (value: unknown) => [
    { id: "text2", tool: "read_value", arguments: { value: 5 } },
    pay("key", value, { tool: "keyed_effect", onError: "fail-forward" }),
    pay("bare", value),
  ];
  expect(await amend(v1, renamed(5))).toEqual({ type: "repeat not accepted", keys: ["bare"] });
  const next = await amended(v1, renamed("<<text2.value>>"));
  expect(next.plan.status).toBe("FAILED");
  expect(next.steps.get("bare")?.error).toMatchObject({ code: "REPEAT_NOT_ACCEPTED" });
  expect(next.steps.get("key")).toMatchObject({ status: "COMPLETED", output: { value: 5 } });
  const rerunWith = (acceptRepeat: string[]) =>
    bench.store.rerunPlan(TENANT, v1.requestId, { from: null, autoExecute: true, acceptRepeat });
  expect(await rerunWith([])).toEqual({ type: "repeat not accepted", keys: ["bare"] });
  const answer = await rerunWith(["bare"]);
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect((await bench.end(answer.plan._id)).plan.status).toBe("COMPLETED");
  expect((await bench.tools.ledger()).map(({ tool }) => tool)).toEqual([
    "keyed_effect",
    "plain_effect",
    "plain_effect",
  ]);
});
