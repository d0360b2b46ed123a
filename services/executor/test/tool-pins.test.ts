import { type JsonObject, parsePlan, pinTools, toolDigest } from "@planwright/plan";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

let x: ChangingServer;
let y: ChangingServer;
let bench: Workbench;

beforeEach(async () => {
  x = await startChangingServer([plainTool("search"), plainTool("note")]);
  y = await startChangingServer([plainTool("other")]);
  bench = await openWorkbench({ x: { url: x.url, trusted: true }, y: { url: y.url, trusted: true } });
  await bench.startExecutor();
});
afterEach(async () => {
  await bench.close();
  await x.close();
  await y.close();
});

/** The tools of a server in the store. */
const published = async (server: string) =>
  (await bench.store.listTools()).filter((tool) => tool.server === server);

/** Changes the tools that a server offers, and waits until the executor has published them. */
async function change(server: "x" | "y", ...tools: object[]): Promise<void> {
  const changing = { x, y }[server];
  changing.tools = tools;
  changing.notify();
  const wanted = tools.map((tool) => JSON.stringify(tool)).toSorted();
  const said = async () =>
    (await published(server))
      .map(({ descriptor: { name, inputSchema, description } }) =>
        JSON.stringify({ name, inputSchema, ...(description === undefined ? {} : { description }) }),
      )
      .toSorted();
  await expect.poll(said).toEqual(wanted);
}

/** Stores a plan as the API does, checked and pinned with the current catalogue, and does not start it. */
async function store(steps: JsonObject[], policy: JsonObject = {}) {
  const tools = await bench.store.toolCatalogue();
  const parsed = parsePlan({ steps, policy }, { tools });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const { plan } = await bench.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: parsed.plan,
    toolPins: pinTools(parsed.plan, tools),
    raw: "",
    diagnostics: [],
    autoExecute: false,
  });
  return plan;
}

async function execute({ _id, requestId }: Awaited<ReturnType<typeof store>>) {
  await bench.store.queuePlan(TENANT, _id, requestId);
  return bench.end(_id);
}

const withQuery = plainTool("search", {
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
});
const CHAIN = [
  { id: "a", tool: "note" },
  { id: "b", tool: "search", dependsOn: ["a"] },
];

test("a step whose tool has changed since planning fails without a call, and a rerun uses the changed tool", async () => {
  const plan = await store(CHAIN);
  await change("x", withQuery, plainTool("note"));
  const { plan: ended, steps } = await execute(plan);
  expect(ended).toMatchObject({ status: "FAILED", error: { code: "TOOL_CHANGED" } });
  expect(steps.get("b")).toMatchObject({ status: "FAILED", attempts: [] });
  expect(steps.get("b")?.error).toEqual({
    code: "TOOL_CHANGED",
    message:
      "Tool search of server x has changed since the plan was made (input schema), so nothing was sent. Rerun the plan with the current tool, or plan it again",
    retryable: false,
  });
  expect(x.called).toEqual(["note"]);

  const answer = await bench.store.rerunPlan(TENANT, plan.requestId, { from: null, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect((await bench.end(answer.plan._id)).plan.status).toBe("COMPLETED");
  expect(x.called).toEqual(["note", "search"]);
});

test("a plan with the policy onToolChanged continue runs with a changed tool", async () => {
  const plan = await store(CHAIN, { onToolChanged: "continue" });
  await change("x", withQuery, plainTool("note"));
  expect((await execute(plan)).plan.status).toBe("COMPLETED");
  expect(x.called).toEqual(["note", "search"]);
});

test("a plan that is made right after a change runs, even if its executor has cached the old tool", async () => {
  expect((await execute(await store(CHAIN))).plan.status).toBe("COMPLETED");
  const [search] = await published("x");
  const descriptor = { ...search!.descriptor, name: "search", description: "Searches better." };
  const note = { ...search!.descriptor, name: "note" };
  // Published as by another executor: this one is not notified.
  const tools = [descriptor, note].map((each) => ({ descriptor: each, digest: toolDigest(each) }));
  await bench.store.publishTools("x", tools);
  expect((await execute(await store(CHAIN))).plan.status).toBe("COMPLETED");
});

test("a plan that was made while the name of its tool was unique runs on the same server when another one offers the name", async () => {
  const plan = await store(CHAIN);
  expect(plan.plan?.steps.map((step) => "tool" in step && step.tool)).toEqual(["note", "search"]);
  await change("y", plainTool("search"), plainTool("note"));
  const names = (await bench.store.toolCatalogue()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["x/search", "y/search", "x/note", "y/note"]));
  expect((await execute(plan)).plan.status).toBe("COMPLETED");
  expect([x.called, y.called]).toEqual([["note", "search"], []]);
});

test("a plan that names the server runs there when no other one offers the name any more", async () => {
  await change("y", plainTool("search"));
  const plan = await store([{ id: "a", tool: "y/search" }]);
  await change("x", plainTool("note"));
  expect((await bench.store.toolCatalogue()).map(({ name }) => name)).toContain("search");
  expect((await execute(plan)).plan.status).toBe("COMPLETED");
  expect([x.called, y.called]).toEqual([[], ["search"]]);
});

test("a removed tool is not found, even if another server offers the same name", async () => {
  const plan = await store([{ id: "a", tool: "search" }]);
  await change("y", plainTool("search"));
  await change("x", plainTool("note"));
  const { plan: ended, steps } = await execute(plan);
  expect(ended.status).toBe("FAILED");
  expect(steps.get("a")?.error).toMatchObject({
    code: "TOOL_NOT_FOUND",
    message: "Tool search of server x is no longer known",
  });
  expect([x.called, y.called]).toEqual([[], []]);
});
