import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createPlanTest } from "@planwright/test-kit";
import { plan } from "./plan.js";
import { createTools, ordersIn } from "./tools.js";

/** A shop without orders. */
function newShop() {
  const file = join(mkdtempSync(join(tmpdir(), "shop-")), "orders.jsonl");
  return { ...createPlanTest({ tools: createTools(file) }), orders: () => ordersIn(file) };
}

test("the plan orders two lamps", async () => {
  const { run, orders } = newShop();
  const { status, outputs, error, calls } = await run(plan);
  assert.equal(status, "COMPLETED", error?.message);
  assert.deepEqual(outputs, { order: { orderId: "order-1" } });
  assert.deepEqual(
    calls.map(({ tool, arguments: sent }) => ({ tool, sent })),
    [
      { tool: "findProducts", sent: { text: "lamp" } },
      { tool: "placeOrder", sent: { product: "lamp", quantity: 2 } },
    ],
  );
  assert.equal(orders().length, 1);
});

test("a crash after the order does not order again", async () => {
  const { run, orders } = newShop();
  const crashed = await run(plan, { order: "crash after" });
  assert.equal(crashed.status, "CRASHED");
  await crashed.continue();
  assert.equal(crashed.status, "COMPLETED");
  assert.equal(crashed.calls.filter(({ tool }) => tool === "placeOrder").length, 2);
  assert.equal(orders().length, 1);
});

test("a product that the shop does not have is not ordered", async () => {
  const { run, orders } = newShop();
  const { status, steps } = await run({
    steps: [{ id: "order", tool: "placeOrder", arguments: { product: "boat", quantity: 1 } }],
  });
  assert.equal(status, "FAILED");
  assert.equal(steps["order"]?.error?.message, "There is no product boat");
  assert.deepEqual(orders(), []);
});
