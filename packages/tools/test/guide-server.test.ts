/**
 * The server in the guide about tools, run as the guide prints it: its answers, its effects, and the
 * declarations that are believed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { effectClassOf, type JsonObject, toolContract } from "@planwright/plan";
import { bundleWithCodeCache, readmeBlocks } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createToolClients, parseServers, type ToolClients } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const GUIDE = "docs/guides/write-a-tool.md";
const blocks = readmeBlocks(ROOT, GUIDE);
const [program, ...otherPrograms] = blocks.filter(({ language }) => language === "js");
const text = readFileSync(join(ROOT, GUIDE), "utf8");
/** Inside the repository, where the server finds the same packages as in the checkout of a reader. */
mkdirSync(join(ROOT, ".data"), { recursive: true });
const folder = mkdtempSync(join(ROOT, ".data", "guide-server-"));
const effectsFile = join(folder, "shop.jsonl");

let clients: ToolClients;
/** The servers file's entry for the server. It is bundled, because packages are tested without a build. */
let shop: { command: string; args: string[] };
beforeAll(async () => {
  expect(otherPrograms).toEqual([]);
  const server = join(folder, "shop-tools.mjs");
  writeFileSync(server, program?.text ?? "");
  const bundled = await bundleWithCodeCache(join(folder, "bundled"), server, [join(folder, "unused.jsonl")]);
  shop = { command: process.execPath, args: [bundled, effectsFile] };
  clients = await connect(shop);
});
afterAll(async () => {
  await clients.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(server: object): Promise<ToolClients> {
  // A separate process: on a busy machine it starts slowly.
  const servers = parseServers({ mcpServers: { shop: server } });
  const started = createToolClients(servers, { startTimeoutMs: 60_000 });
  await started.start();
  return started;
}

const call = (tool: string, args: JsonObject, idempotencyKey: string) =>
  clients.callTool({ tool, arguments: args, timeoutMs: 10_000, idempotencyKey });
const effects = () => readFileSync(effectsFile, "utf8").trim().split("\n").length;

test("a call with a known key gets the first answer and has no effect, also in a new process of the server", async () => {
  const order = { product: "lamp", quantity: 2 };
  const first = await call("placeOrder", order, "plan_1/order");
  expect(first).toEqual({ type: "completed", output: { orderId: "order-1" } });
  expect(await call("placeOrder", order, "plan_1/order")).toEqual(first);
  const again = await connect(shop);
  try {
    const repeated = { tool: "placeOrder", arguments: order, timeoutMs: 10_000 };
    expect(await again.callTool({ ...repeated, idempotencyKey: "plan_1/order" })).toEqual(first);
  } finally {
    await again.close();
  }
  expect(effects()).toBe(1);
  expect(await call("placeOrder", order, "plan_2/order")).toMatchObject({ output: { orderId: "order-2" } });
  expect(effects()).toBe(2);
});

test("a refused call is an answer, and its key can be used again", async () => {
  const before = effects();
  expect(await call("placeOrder", { product: "boat", quantity: 1 }, "plan_3/order")).toMatchObject({
    type: "failed",
    effect: "none",
    error: { code: "TOOL_FAILED", message: "There is no product boat" },
  });
  expect(effects()).toBe(before);
  const corrected = await call("placeOrder", { product: "kettle", quantity: 1 }, "plan_3/order");
  expect(corrected).toMatchObject({ type: "completed" });
});

test("the message that the guide shows for other languages is the one that the server sends", async () => {
  const shown = JSON.parse(blocks.find(({ text: json }) => json.includes('"jsonrpc"'))?.text ?? "{}");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport(shop));
  try {
    const order = { product: "boat", quantity: 1 };
    expect(await client.callTool({ name: "placeOrder", arguments: order })).toEqual(shown.result);
  } finally {
    await client.close();
  }
});

test("the look-up answers whether a call happened, with its result", async () => {
  const ask = () => call("findInvoice", { orderId: "order-7" }, "ask");
  expect(await ask()).toEqual({ type: "completed", output: { found: false } });
  const sent = await call("sendInvoice", { orderId: "order-7" }, "send");
  expect(sent).toMatchObject({ type: "completed", output: { invoice: "invoice of order-7" } });
  expect(await ask()).toMatchObject({ output: { found: true, result: { invoice: "invoice of order-7" } } });
});

const rows = [...text.matchAll(/^\| `(\w+)` \| (class .*?) \| (class .*?) \|$/gm)];

test("the guide shows for each tool which declarations are believed, without and with trust", () => {
  const documented = rows.map(([, tool, untrusted, trusted]) => ({ tool, untrusted, trusted }));
  expect(documented.map(({ tool }) => tool)).toEqual([
    "findProducts",
    "setPrice",
    "placeOrder",
    "sendInvoice",
    "bookCourier",
  ]);
  expect(
    documented.map(({ tool = "" }) => ({ tool, untrusted: believed(tool), trusted: believed(tool, true) })),
  ).toEqual(documented);
});

test("the guide puts each tool of its server into the class that follows from its contract", () => {
  const classes = [...text.matchAll(/^\| ([RKVU]) \| .* \| (`.*`) \|$/gm)].flatMap(([, name, tools = ""]) =>
    [...tools.matchAll(/`(\w+)`/g)].map(([, tool = ""]) => [tool, name] as const),
  );
  const names = clients.catalogue().map(({ name }) => name);
  expect(classes.map(([tool]) => tool).toSorted()).toEqual(names.toSorted());
  expect(classes.map(([tool]) => [tool, believed(tool, true).slice("class ".length, 7)])).toEqual(classes);
});

/** The resulting contract of a tool, in the words of the guide. */
function believed(name: string, trusted?: true): string {
  const descriptor = clients.catalogue().find((each) => each.name === name);
  const { contract } = toolContract({ ...descriptor, name, trusted });
  const needs = contract.requiresApproval ? ", needs approval" : "";
  return `class ${effectClassOf(contract)}, ${contract.mode}${needs}`;
}
