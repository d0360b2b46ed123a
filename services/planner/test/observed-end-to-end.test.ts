/**
 * The output of a tool without an output schema in one request is shown to the model in the next, through
 * API, planner, executor and databases.
 */
import { isJsonObject, type JsonObject } from "@planwright/plan";
import { answer, type ModelRequest } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planwright } from "../../../packages/cli/test/planwright.ts";
import {
  type ChangingServer,
  plainTool,
  startChangingServer,
} from "../../../packages/tools/test/changing-server.ts";
import { type System, startSystem } from "./system.ts";

const ORDER = {
  order: { order_no: "A-4711", total: 12.5, coupon: null },
  found: true,
  by: { "kim@mail.test": { vip: true } },
};
const TOOLS = [
  plainTool("look_up_order", {
    description: "Looks up the last order of a customer.",
    annotations: { readOnlyHint: true },
    inputSchema: { type: "object", properties: { customer: { type: "string" } }, required: ["customer"] },
  }),
  plainTool("refund_order", {
    description: "Refunds an order.",
    inputSchema: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  }),
];
const LOOK_UP = { tool: "look_up_order", arguments: { customer: "Kim Park" } };

let server: ChangingServer;
let system: System;
/** Headers of two tenants, and environments of the CLI for them. */
const tenants = { ours: "", theirs: "" };

beforeAll(async () => {
  server = await startChangingServer(TOOLS);
  server.answer = () => ({ content: [{ type: "text", text: JSON.stringify(ORDER) }] });
  system = await startSystem({ mcpServers: { shop: { url: server.url } } });
  for (const tenant of ["ours", "theirs"] as const) {
    const { secret } = await system.store.createApiKey({ tenant, name: tenant, scopes: ["admin"] });
    tenants[tenant] = secret;
  }
  system.model.script(modelThatUsesWhatItSees);
  await system.startPlanner();
});
afterAll(async () => {
  await system.close();
  await server.close();
});

const messagesOf = ({ body }: ModelRequest): string => JSON.stringify(body["messages"]);

/** Refunds only if the prompt shows the field for it, and reads otherwise. */
function modelThatUsesWhatItSees(request: ModelRequest) {
  if (request.body["tools"] !== undefined) return { type: "answer" as const, text: "PLAN" };
  const isSeen = messagesOf(request).includes("order_no");
  const refund = { tool: "refund_order", arguments: { order: "<<look_up_order.order.order_no>>" } };
  return answer({ steps: isSeen ? [LOOK_UP, refund] : [LOOK_UP] });
}

const headersOf = (tenant: keyof typeof tenants) => ({ authorization: `Bearer ${tenants[tenant]}` });
const READ = `query ($id: ID!) { request(requestId: $id) { status modelCalls { messages { role content } }
  plan { steps { id status resolvedArguments } diagnostics { code } } } }`;

/** Plans and executes a sentence. */
async function ask(tenant: keyof typeof tenants, query: string) {
  const { createPlan } = await system.graphql(
    "mutation ($query: String!) { createPlan(query: $query) { requestId } }",
    { query },
    headersOf(tenant),
  );
  const read = () => system.graphql(READ, { id: createPlan.requestId }, headersOf(tenant));
  await expect.poll(async () => (await read()).request.status, { timeout: 60_000 }).toBe("COMPLETED");
  return (await read()).request;
}

/** The line of the tool in the recorded prompt. */
function shownLine({ modelCalls }: { modelCalls: { messages: { content: string }[] }[] }): JsonObject {
  const texts = modelCalls.flatMap(({ messages }) => messages.map(({ content }) => content));
  const line = texts
    .flatMap((text) => text.split("\n"))
    .find((each) => each.includes('"name":"look_up_order"'));
  const parsed: unknown = JSON.parse(line ?? "null");
  return isJsonObject(parsed) ? parsed : {};
}

async function observed(tenant: keyof typeof tenants) {
  const { tools } = await system.graphql(
    "{ tools: getAvailableTools { name observedOutput { outputs schema } } }",
    {},
    headersOf(tenant),
  );
  return tools.find(({ name }: { name: string }) => name === "look_up_order").observedOutput;
}

const shownByCli = (tenant: keyof typeof tenants) =>
  planwright(["tools", "look_up_order"], {
    env: { PLANWRIGHT_URL: system.apiUrl, PLANWRIGHT_API_KEY: tenants[tenant] },
  });

test("after one run of a tool without an output schema, its fields are shown to the model for the same tenant, and for no other", async () => {
  const first = await ask("ours", "Look up the last order of Kim Park and refund it");
  expect(shownLine(first)).not.toHaveProperty("seen");
  expect(JSON.stringify(first.modelCalls)).toContain("refer to the whole output");
  expect(first.plan.steps.map(({ id }: { id: string }) => id)).toEqual(["look_up_order"]);

  await expect.poll(async () => (await observed("ours"))?.outputs, { timeout: 30_000 }).toBe(1);
  const second = await ask("ours", "Look up the last order of Kim Park and refund it");
  expect(shownLine(second)["seen"]).toEqual({
    order: { order_no: "string", total: "number", coupon: "null" },
    found: "boolean",
    by: { "[key]": { vip: "boolean" } },
  });
  expect(second.plan).toMatchObject({
    steps: [
      { id: "look_up_order", status: "COMPLETED" },
      { id: "refund_order", status: "COMPLETED", resolvedArguments: { order: "A-4711" } },
    ],
    diagnostics: [],
  });
  expect(JSON.stringify(second.modelCalls)).not.toMatch(/A-4711|kim@mail/);

  expect(await observed("theirs")).toBeNull();
  expect(
    shownLine(await ask("theirs", "Look up the last order of Kim Park and refund it")),
  ).not.toHaveProperty("seen");
});

test("the CLI shows the learned shape to the tenant of the runs", async () => {
  await ask("ours", "Look up the last order of Kim Park");
  await expect.poll(async () => (await observed("ours"))?.outputs, { timeout: 30_000 }).toBeGreaterThan(0);
  const { exitCode, stdout } = await shownByCli("ours");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/Output, as seen in \d+ runs?\n/);
  expect(stdout).toMatch(/order {2}object\n\s+order_no {2}string\n\s+total {2}number/);
  expect(stdout).not.toMatch(/A-4711|kim@mail/);
});

test("a tenant without a run of the tool sees nothing of the outputs of others", async () => {
  const { secret } = await system.store.createApiKey({ tenant: "new", name: "new", scopes: ["admin"] });
  const env = { PLANWRIGHT_URL: system.apiUrl, PLANWRIGHT_API_KEY: secret };
  const { exitCode, stdout } = await planwright(["tools", "look_up_order"], { env });
  expect({ exitCode, isSeen: stdout.includes("as seen") }).toEqual({ exitCode: 0, isSeen: false });
});
