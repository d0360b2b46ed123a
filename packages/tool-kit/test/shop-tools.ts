import type { ClientSession, Db } from "mongodb";
import { z } from "zod";
import { defineTool, memoryAnswers, once, Refusal, type Tool } from "../src/index.ts";
import { mongoAnswers, onceInTransaction } from "../src/mongodb.ts";

const input = z.strictObject({
  product: z.string().min(1),
  /** What goes wrong, after the effect where there is one. */
  fault: z.enum(["refuse", "throw", "die", "wait"]).optional(),
});
const output = z.object({ order: z.int() });

/** The effects are the documents of one collection, so that they are counted over several processes. */
export function effectsOf(db: Db) {
  return db.collection<{ tool: string; product: string; key: string | undefined }>("effects");
}

/** Tools that act in each of the ways in which a tool can act, and fail in each of the ways. */
export function shopTools(db: Db): Tool[] {
  const effects = effectsOf(db);
  const act = async (
    { product, fault }: z.output<typeof input>,
    { tool, key, signal, log }: Parameters<Tool["call"]>[1],
    options: { session?: ClientSession } = {},
  ) => {
    if (fault === "refuse") throw new Refusal("sold out", { data: { product, left: 0 } });
    await effects.insertOne({ tool, product, key }, options);
    log("acted", { product });
    if (fault === "throw") throw new TypeError(`no answer of bank.internal, password=hunter2`);
    if (fault === "die") process.kill(process.pid, "SIGKILL");
    if (fault === "wait")
      await new Promise((_resolve, reject) => {
        const stop = () => reject(new TypeError("stopped"));
        signal.addEventListener("abort", stop, { once: true });
        // The effect may have taken longer than the deadline.
        if (signal.aborted) stop();
      });
    return { order: await effects.countDocuments({}, options) };
  };
  const shared = { description: "Order a product", input, output };
  const key = { mode: "parallel-safe", side_effects: true, idempotency: "key" } as const;
  return [
    defineTool({ ...shared, name: "order", run: (given, context) => act(given, context) }),
    defineTool({
      ...shared,
      name: "orderSoon",
      contract: { timeout_ms: 100 },
      run: (given, context) => act(given, context),
    }),
    defineTool({
      ...shared,
      name: "orderOnce",
      contract: key,
      run: once(memoryAnswers(), (given, context) => act(given, context)),
    }),
    defineTool({
      ...shared,
      name: "orderOnceInMongo",
      contract: key,
      run: once(mongoAnswers(db), (given, context) => act(given, context), { waitMs: 2_000 }),
    }),
    defineTool({
      ...shared,
      name: "orderInTransaction",
      contract: key,
      run: onceInTransaction(db, (given, context, session) => act(given, context, { session })),
    }),
    defineTool({
      name: "stock",
      title: "Stock",
      description: "How many of a product there are",
      input: z.object({ product: z.string().default("lamp") }),
      output: z.object({ product: z.string(), left: z.int() }),
      contract: { side_effects: false },
      annotations: { openWorldHint: false },
      run: ({ product }) => ({ product, left: 3, shelf: "internal" }),
    }),
    defineTool({
      name: "odd",
      description: "Answers in another shape than it declares",
      input: z.object({}),
      output: z.object({ left: z.int() }),
      run: () => JSON.parse('{ "left": "none" }'),
    }),
  ];
}
