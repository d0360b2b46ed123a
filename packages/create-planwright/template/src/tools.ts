import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { defineTool, Refusal } from "@planwright/tool-kit";
import { z } from "zod";

const PRODUCTS = ["kettle", "lamp", "teapot"];

/** One order: the effect, its idempotency key, and its answer. */
interface Order {
  key: string | undefined;
  product: string;
  quantity: number;
  orderId: string;
}

/** The orders of a file, one line each. A real server has a database in its place. */
export function ordersIn(file: string): Order[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Order => JSON.parse(line));
}

/** The tools of the shop. @param file - keeps the orders */
export function createTools(file: string) {
  return [
    defineTool({
      name: "findProducts",
      description: "Find the products whose names contain a text",
      input: z.object({ text: z.string().max(100) }),
      output: z.object({ products: z.array(z.string()) }),
      contract: { mode: "parallel-safe", side_effects: false },
      run: ({ text }) => ({ products: PRODUCTS.filter((name) => name.includes(text)) }),
    }),
    defineTool({
      name: "placeOrder",
      description: "Order a product",
      input: z.object({ product: z.string(), quantity: z.int().min(1).max(100) }),
      output: z.object({ orderId: z.string() }),
      // One order for each key: after a crash the call is made again, and gets the first answer.
      contract: { mode: "parallel-safe", idempotency: "key", timeout_ms: 10_000 },
      run({ product, quantity }, { key }) {
        const orders = ordersIn(file);
        const earlier = orders.find((order) => key !== undefined && order.key === key);
        if (earlier) return { orderId: earlier.orderId };
        if (!PRODUCTS.includes(product)) throw new Refusal(`There is no product ${product}`);
        const order: Order = { key, product, quantity, orderId: `order-${orders.length + 1}` };
        // The effect, its key and its answer are one write: a crash leaves all of them or none.
        appendFileSync(file, `${JSON.stringify(order)}\n`, { flush: true });
        return { orderId: order.orderId };
      },
    }),
  ];
}
