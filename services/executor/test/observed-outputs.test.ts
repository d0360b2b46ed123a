import { parsePlan, pinTools, schemaOfShape } from "@planwright/plan";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, type RunningExecutor, TENANT, type Workbench } from "./executor-process.ts";

let server: ChangingServer;
let bench: Workbench;
let executor: RunningExecutor;
/** Another name for each test, because the tests share a database. */
let name = "findUsers";

beforeEach(async () => {
  name += "Again";
  server = await startChangingServer([plainTool(name)]);
  bench = await openWorkbench({ x: { url: server.url, trusted: true } });
  executor = await bench.startExecutor();
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

/** Lets the tool return this output in one run. */
async function run(output: object): Promise<void> {
  server.answer = () => ({ content: [{ type: "text", text: JSON.stringify(output) }] });
  const tools = await bench.store.toolCatalogue(TENANT);
  const parsed = parsePlan([{ tool: name }], { tools });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: parsed.plan,
    toolPins: pinTools(parsed.plan, tools),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  expect((await bench.end(plan._id)).plan.status).toBe("COMPLETED");
}

const toolFor = async (tenant?: string) =>
  (await bench.store.toolCatalogue(tenant)).find((tool) => tool.name === name);

async function seenBy(tenant: string) {
  const tool = await toolFor(tenant);
  return tool?.observedOutput && schemaOfShape(tool.observedOutput);
}

const seenOf = (tenant: string) => async () => (await seenBy(tenant))?.["x-seen"];

const ALICE = { "alice@test.com": { name: "Alice Liddell", note: "sk-secretsecret", age: 7 }, total: 1 };
const BOB = { "bob@test.com": { name: "Bob Builder", note: null, age: 40 }, total: 1 };

test("the shape of outputs of two runs is shown to the tenant of these runs, and to no other", async () => {
  await run(ALICE);
  await expect.poll(seenOf(TENANT)).toBe(1);
  await run(BOB);
  await expect.poll(seenOf(TENANT)).toBe(2);
  expect(await seenBy(TENANT)).toMatchObject({
    type: "object",
    additionalProperties: { type: ["integer", "object"], properties: { name: { "x-seen": 2 } } },
  });
  expect(await seenBy("other")).toBeUndefined();
  expect(await toolFor()).not.toHaveProperty("observedOutput");
});

test("stored shapes contain neither values nor keys that are data", async () => {
  await run(ALICE);
  await run(BOB);
  await expect.poll(seenOf(TENANT)).toBe(2);
  const client = await MongoClient.connect(bench.mongodbUrl);
  const stored = JSON.stringify(await client.db().collection("observedOutputs").find().toArray());
  await client.close();
  expect(stored).toContain("findUsers");
  expect(stored).not.toMatch(/alice|bob|liddell|builder|test\.com|secretsecret/i);
});

test("a tool that has changed starts without a shape, and has its old shape again when it changes back", async () => {
  await run({ id: 1 });
  await expect.poll(seenOf(TENANT)).toBe(1);
  const changed = plainTool(name, { description: "Finds users." });
  server.tools = [changed];
  server.notify();
  const description = async () => (await toolFor(TENANT))?.description;
  await expect.poll(description).toBe("Finds users.");
  expect(await seenBy(TENANT)).toBeUndefined();
  await run({ userId: "u" });
  await expect.poll(seenOf(TENANT)).toBe(1);
  expect(await seenBy(TENANT)).toMatchObject({ properties: { userId: { type: "string" } } });
});

test("an executor that stops writes the shapes that it has learned", async () => {
  await run({ id: 1 });
  await executor.end();
  expect(await seenOf(TENANT)()).toBe(1);
});

test("an executor with LEARN_OUTPUTS=off learns no outputs", async () => {
  await executor.end();
  executor = await bench.startExecutor({ LEARN_OUTPUTS: "off" });
  await run({ id: 1 });
  await executor.end();
  expect(await seenOf(TENANT)()).toBeUndefined();
});
