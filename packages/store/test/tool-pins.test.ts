import {
  nameTools,
  type Plan,
  parsePlan,
  pinTools,
  type RequestId,
  type ToolDescriptor,
  toolDigest,
} from "@planwright/plan";
import { createStore, type Store } from "@planwright/store";
import { eventually, listSteps, testServers } from "@planwright/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { playRecords } from "./play-records.ts";

const TENANT = "t1";
let store: Store;

beforeAll(async () => {
  store = await createStore({ url: testServers().mongodbUrl });
});
afterAll(async () => {
  await store.close();
});
beforeEach(async () => {
  await store.keepOnlyServers([]);
});

const tool = (server: string, description = "Searches."): ToolDescriptor => ({
  name: "search",
  server,
  description,
  inputSchema: { type: "object", properties: { "a.b": { $ref: "#/x", const: 1.5 } } },
});
const publish = (offered: ToolDescriptor) =>
  store.publishTools(offered.server!, [{ descriptor: offered, digest: toolDigest(offered) }]);

function planFor(tools: ToolDescriptor[], name = "search"): Plan {
  const parsed = parsePlan([{ id: "a", tool: name, arguments: {} }], { tools });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

function submit(plan: Plan, tools: ToolDescriptor[] | null) {
  const toolPins = tools ? pinTools(plan, tools) : undefined;
  const accepted = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  return store.submitPlan({ ...accepted, toolPins });
}

/** Due times come from this process's estimate of the server's clock, which may be slightly ahead of it. */
const claimed = (requestId: RequestId) => eventually(() => store.claimRequest(requestId, "p1"));

async function end(planId: string, status: "FAILED" | "COMPLETED"): Promise<void> {
  const claim = (await store.claimPlan(planId as Parameters<Store["claimPlan"]>[0], "e1"))!;
  const output = status === "COMPLETED" ? { found: 1 } : undefined;
  await playRecords(store, claim, [{ key: "a", stepId: "a", status, attempts: 1, output }]);
  await store.finishPlan(claim, { type: "finish", status: "FAILED", outputs: {} });
}

test("a plan keeps the pins of its tools, and an executor that claims it gets them", async () => {
  await publish(tool("x"));
  const tools = await store.toolCatalogue();
  const { plan } = await submit(planFor(tools), tools);
  const claim = await store.claimPlan(plan._id, "e1");
  expect(claim?.plan.toolPins).toEqual(pinTools(planFor(tools), [tool("x")]));
});

test("a plan that was stored without pins has none", async () => {
  const { plan } = await submit(planFor([tool("x")]), null);
  expect(await store.getPlan(TENANT, plan._id)).not.toHaveProperty("toolPins");
});

test("a rerun pins the current tools, on the same servers", async () => {
  const { request, plan } = await submit(planFor([tool("x")]), [tool("x")]);
  await end(plan._id, "FAILED");
  const changed = tool("x", "Searches twice.");
  await publish(changed);
  await publish(tool("y"));
  const answer = await store.rerunPlan(TENANT, request._id, { from: null, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect(answer.plan.toolPins).toEqual([
    expect.objectContaining({ tool: "search", server: "x", name: "search", digest: toolDigest(changed) }),
  ]);
});

test("a completed step is carried over under the new name of its tool, but not to another tool", async () => {
  for (const [server, status] of [
    ["x", "COMPLETED"],
    ["y", "PENDING"],
  ] as const) {
    const { _id } = await store.createRequest({ tenant: TENANT, query: "do it", autoExecute: true });
    const planning = await claimed(_id);
    const common = { raw: null, origin: { kind: "offline", model: null } as const, diagnostics: [] };
    const first = planFor([tool("x")]);
    const toolPins = pinTools(first, [tool("x")]);
    const { _id: planId } = await store.completePlanning(planning, { plan: first, toolPins, ...common });
    await end(planId, "COMPLETED");
    await store.requestReplan(TENANT, _id, { note: null, execute: true });
    const replanning = await claimed(_id);
    const tools = nameTools([tool("x"), tool("y")]);
    const second = planFor(tools, `${server}/search`);
    const stored = await store.completeReplan(replanning, {
      plan: second,
      toolPins: pinTools(second, tools),
      ...common,
    });
    expect((await listSteps(store, TENANT, [stored._id])).map((step) => step.status)).toEqual([status]);
  }
});
