import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PlanInvalidError } from "@planwright/engine";
import { defineTool, memoryAnswers, once, Refusal, serveHttp } from "@planwright/tool-kit";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createPlanTest, type FakeTool, recordedTools } from "../src/index.ts";

/** What the shop did. */
let orders: { product: string; key: string | undefined }[] = [];
beforeEach(() => {
  orders = [];
});

const findProducts = defineTool({
  name: "findProducts",
  description: "Find products",
  input: z.object({ text: z.string() }),
  output: z.object({ products: z.array(z.string()) }),
  contract: { mode: "parallel-safe", side_effects: false },
  run: ({ text }) => ({ products: ["lamp", "kettle"].filter((name) => name.includes(text)) }),
});

/** A tool of each kind of write, over the same shop. */
function shop() {
  const order = defineTool({
    name: "order",
    description: "Order a product",
    input: z.object({ product: z.string() }),
    output: z.object({ orderId: z.string() }),
    contract: { mode: "parallel-safe", idempotency: "key" },
    run: once(
      memoryAnswers(),
      ({ product }: { product: string }, { key }) => {
        if (product === "boat") throw new Refusal("There is no boat");
        if (product === "bomb") throw new TypeError("the shop is on fire");
        orders.push({ product, key });
        return { orderId: `order-${orders.length}` };
      },
      { waitMs: 0 },
    ),
  });
  const phone = defineTool({
    name: "phone",
    description: "Order by telephone",
    input: z.object({ product: z.string() }),
    output: z.object({ orderId: z.string() }),
    run: ({ product }) => ({ orderId: `phone-${orders.push({ product, key: undefined })}` }),
  });
  const pay: FakeTool = {
    name: "pay",
    contract: { requires_approval: true },
    run: (args) => ({ paid: args }),
  };
  return [findProducts, order, phone, pay];
}

const ORDER = {
  steps: [
    { id: "find", tool: "findProducts", arguments: { text: "lamp" } },
    { id: "order", tool: "order", arguments: { product: "<<find.products.0>>" } },
  ],
  outputs: ["order"],
};
const PAY = {
  steps: [
    { id: "order", tool: "order", arguments: { product: "lamp" } },
    { id: "pay", tool: "pay", arguments: { orderId: "<<order.orderId>>" } },
  ],
};
const phoneOne = { steps: [{ id: "call", tool: "phone", arguments: { product: "lamp" } }] };

test("a plan runs with the real tools, and every call can be asserted", async () => {
  const run = await createPlanTest({ tools: shop() }).run(ORDER);
  expect(run.calls).toEqual([
    {
      step: "find",
      tool: "findProducts",
      arguments: { text: "lamp" },
      attempt: 1,
      key: "plan-1/find",
      answer: "result",
    },
    {
      step: "order",
      tool: "order",
      arguments: { product: "lamp" },
      attempt: 1,
      key: "plan-1/order",
      answer: "result",
    },
  ]);
  expect(run).toMatchObject({
    status: "COMPLETED",
    outputs: { order: { orderId: "order-1" } },
    elapsedMs: 0,
  });
  expect(run.steps["order"]).toEqual({
    status: "COMPLETED",
    attempts: 1,
    output: { orderId: "order-1" },
  });
  expect(orders).toEqual([{ product: "lamp", key: "plan-1/order" }]);
});

test("an invalid plan is refused before any call", async () => {
  const { run } = createPlanTest({ tools: shop() });
  await expect(run({ steps: [{ id: "a", tool: "gone" }] })).rejects.toBeInstanceOf(PlanInvalidError);
  await expect(run({ ...ORDER, outputs: ["absent"] })).rejects.toThrow("absent");
  await expect(run(ORDER, { buy: "unreachable" })).rejects.toMatchObject({
    code: "STEP_UNKNOWN",
    message: "The plan has no step buy, but find, order",
  });
});

test("a refusal and an exception of a tool fail its step; only the refusal says that nothing happened", async () => {
  const { run } = createPlanTest({ tools: shop() });
  const orderOf = (product: string) => ({ steps: [{ id: "order", tool: "order", arguments: { product } }] });
  const refused = await run(orderOf("boat"));
  expect(refused).toMatchObject({ status: "FAILED", calls: [{ answer: "error" }] });
  expect(refused.steps["order"]?.error).toMatchObject({ code: "TOOL_FAILED", message: "There is no boat" });
  const thrown = await run(orderOf("bomb"));
  expect(thrown.status).toBe("WAITING");
  expect(thrown.waiting).toEqual([{ step: "order", for: "doubt" }]);
  expect(thrown.steps["order"]?.error?.message).toContain(
    'order threw "An earlier call of order with this key',
  );
  expect(thrown.error).toEqual(thrown.steps["order"]?.error);
  expect(thrown.calls[0]).toMatchObject({ answer: "none", threw: new TypeError("the shop is on fire") });
});

test("a fault for each attempt: what is not sent is repeated, in virtual time", async () => {
  const run = await createPlanTest({ tools: shop() }).run(ORDER, {
    order: ["unreachable", "unreachable", "answer lost"],
  });
  expect(run.status).toBe("COMPLETED");
  expect(run.calls.map(({ step, answer }) => `${step} ${answer}`)).toEqual([
    "find result",
    "order none",
    "order result",
  ]);
  expect(run.elapsedMs).toBeGreaterThan(1_000);
  expect(orders).toHaveLength(1);
});

test.each([
  ["a tool with a key acts once, and answers again", ORDER, "order", "COMPLETED", 2],
  ["a tool without a promise is not called again: a person decides", phoneOne, "call", "WAITING", 1],
] as const)("crash after the effect: %s", async (_, plan, step, status, sent) => {
  const run = await createPlanTest({ tools: shop() }).run(plan, { [step]: "crash after" });
  expect(run).toMatchObject({ status: "CRASHED" });
  expect(orders).toHaveLength(1);
  await run.continue();
  expect(run.status).toBe(status);
  expect(orders).toHaveLength(1);
  expect(run.calls.filter((call) => call.step === step)).toHaveLength(sent);
  expect(run.calls.filter((call) => call.step === "find").length).toBeLessThan(2);
});

test("a call in doubt is settled as an operator does", async () => {
  const { run } = createPlanTest({ tools: shop() });
  const done = await run(phoneOne, { call: "crash after" });
  await done.continue();
  await done.settle("call", { done: { orderId: "phone-1" } });
  expect(done).toMatchObject({ status: "COMPLETED", outputs: { call: { orderId: "phone-1" } } });

  const again = await run(phoneOne, { call: "crash before" });
  expect(again.calls).toEqual([]);
  await again.continue();
  expect(again.waiting).toMatchObject([{ step: "call", for: "doubt" }]);
  await again.settle("call", "call again");
  expect(again).toMatchObject({ status: "COMPLETED", calls: [{ attempt: 2 }] });

  const failed = await run(phoneOne, { call: "answer lost" });
  await failed.settle("call", "not done");
  expect(failed).toMatchObject({ status: "FAILED", error: { code: "SETTLED_AS_FAILED" } });
});

test("an approval is held, over a crash too, and nothing is called before it", async () => {
  const run = await createPlanTest({ tools: shop() }).run(PAY);
  const waiting = [{ step: "pay", for: "approval", arguments: { orderId: "order-1" } }];
  expect(run).toMatchObject({ status: "WAITING", waiting });
  await run.advance(60_000);
  expect(run).toMatchObject({ status: "WAITING", waiting, elapsedMs: 60_000 });
  run.crash();
  expect(run).toMatchObject({ status: "CRASHED", waiting: [] });
  await run.continue();
  expect(run).toMatchObject({ status: "WAITING", waiting });
  expect(run.calls.map(({ tool }) => tool)).toEqual(["order"]);
  await run.approve("pay");
  expect(run).toMatchObject({
    status: "COMPLETED",
    waiting: [],
    outputs: { pay: { paid: { orderId: "order-1" } } },
  });
});

test("an approval may be refused, or expire", async () => {
  const { run } = createPlanTest({ tools: shop() });
  const refused = await run(PAY);
  await refused.refuse("pay", "too expensive");
  expect(refused.steps["pay"]?.error).toMatchObject({ code: "APPROVAL_REFUSED" });
  expect(refused.steps["pay"]?.error?.message).toContain("too expensive");
  const expired = await run(PAY);
  await expired.advance(365 * 24 * 3_600_000);
  expect(expired).toMatchObject({
    status: "FAILED",
    steps: { pay: { error: { code: "APPROVAL_EXPIRED" } } },
  });
  expect(expired.calls.map(({ tool }) => tool)).toEqual(["order"]);
});

test("a decision that nothing waits for names what does", async () => {
  const run = await createPlanTest({ tools: shop() }).run(PAY);
  await expect(run.approve("order")).rejects.toThrow("Step order does not wait for an approval, but pay");
  await expect(run.settle("pay", "not done")).rejects.toMatchObject({ code: "NOT_WAITING" });
  await expect(run.continue()).rejects.toThrow("The plan is WAITING");
  await run.approve("pay");
  await expect(run.advance(1)).rejects.toThrow("The plan is COMPLETED");
  expect(() => run.crash()).toThrow("The plan is COMPLETED");
});

test("fakes take virtual time, and real waiting takes none", async () => {
  const slow: FakeTool = {
    name: "slow",
    contract: { mode: "parallel-safe", side_effects: false },
    async run({ ms }, { sleep }) {
      await sleep(Number(ms));
      await delay(20);
      return { ms: ms ?? null };
    },
  };
  const run = await createPlanTest({ tools: [slow] }).run(
    {
      steps: [
        { id: "a", tool: "slow", arguments: { ms: 3_000 } },
        { id: "b", tool: "slow", arguments: { ms: 2_000 } },
        { id: "c", tool: "slow", arguments: { ms: "<<b.ms>>" }, timeoutMs: 5_000 },
      ],
    },
    { c: ["no answer", { failed: "busy" }] },
  );
  expect(run.calls.map(({ step, answer }) => `${step} ${answer}`)).toEqual([
    "b result",
    "a result",
    "c none",
    "c error",
  ]);
  expect(run.steps["c"]).toMatchObject({ status: "FAILED", error: { message: "busy" } });
  expect(run.elapsedMs).toBeGreaterThan(7_000);
});

test("items of a list fail one by one", async () => {
  const run = await createPlanTest({ tools: shop() }).run(
    {
      steps: [
        {
          id: "each",
          forEach: {
            items: ["lamp", "kettle", "boat"],
            errors: "collect",
            do: { tool: "order", arguments: { product: "<<item>>" } },
          },
        },
      ],
    },
    { "each[0]": { refused: "sold out" } },
  );
  expect(run).toMatchObject({
    status: "PARTIAL",
    steps: {
      "each[0]": { status: "FAILED" },
      "each[1]": { status: "COMPLETED" },
      "each[2]": { status: "FAILED" },
    },
  });
  expect(orders).toEqual([{ product: "kettle", key: "plan-1/each[1]" }]);
});

test("answers of a real server are recorded once, and replayed without it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "planwright-recording-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "recordings", "shop.json");
  const [find, order] = shop();
  if (!find || !order || !("listed" in find) || !("listed" in order)) throw new TypeError("not of tool-kit");
  const server = await serveHttp([find, order], { port: 0, log: () => undefined });
  const plan = {
    steps: [
      ...ORDER.steps,
      { id: "boat", tool: "order", arguments: { product: "boat" } },
      { id: "bomb", tool: "order", arguments: { product: "bomb" } },
    ],
    policy: { onStepFailure: "fail-forward" },
  };
  const recording = await recordedTools(file, { url: server.url });
  const recorded = await createPlanTest(recording).run(plan);
  await recording.close();
  await server.close();
  expect(recording.isReplay).toBe(false);
  expect(orders).toHaveLength(1);

  const replay = await recordedTools(file, { url: server.url });
  const replayed = await createPlanTest(replay).run(plan);
  expect(replay.isReplay).toBe(true);
  expect(orders).toHaveLength(1);
  expect(replayed.steps).toEqual(recorded.steps);
  expect(replayed.calls).toEqual(recorded.calls);
  expect(replayed.steps["order"]?.output).toEqual({ orderId: "order-1" });

  const other = await createPlanTest(replay).run({
    steps: [{ id: "order", tool: "order", arguments: { product: "sofa" } }],
  });
  expect(other.error).toMatchObject({ code: "CALL_NOT_RECORDED" });
  expect(other.error?.message).toContain('has no call of order with {"product":"sofa"}: delete it, or set');
});
