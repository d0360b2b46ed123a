/** Data of another tenant looks like unknown data to every operation that takes an id. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { buildSchema, type GraphQLField, isNonNullType } from "graphql";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { SDL } from "../src/index.ts";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import { APPROVAL_HASH, askApprovalAs, doubtAs, failAs } from "./workers.ts";

const UNKNOWN = {
  request: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
  plan: "plan_1700000000_aaaaaaaaaaaaaaaaaaaa",
};
/** The other required arguments of the operations, by argument name, as a document has them. */
const OTHER_ARGUMENTS: Record<string, string> = {
  plan: JSON.stringify(JSON.stringify(BLOG_PLAN)),
  stepId: '"createAuthor"',
  stepKey: '"createAuthor"',
  approvalHash: `"${APPROVAL_HASH}"`,
  resolution: "retry",
  decisions: '{ stepKey: "createAuthor", resolution: retry }',
  answers: '["yes"]',
  seq: "1",
};
/** Arguments without which another one would be required. */
const ALTERNATIVES = new Set(["answers", "plan"]);
const ID_ARGUMENTS = ["requestId", "planId", "id", "ref"];

let running: RunningApi;
let intruder: { authorization: string };
/** Requests of the other tenant, in every state that an operation could change. */
let theirs: { requestId: string; planId: string }[];

beforeAll(async () => {
  running = await startTestApi({ anonymous: "refuse", mcp: { hosts: [] } });
  const { store } = running;
  intruder = await bearer(store, ["admin"], { tenant: "intruder" });
  const owner = await bearer(store, ["admin"], { tenant: "owner" });
  const submit = async (execute: boolean) => {
    const document =
      "mutation ($plan: JSON!, $execute: Boolean!) { submitPlan(plan: $plan, execute: $execute) { requestId planId } }";
    const { body } = await running.graphql(document, { plan: BLOG_PLAN, execute }, owner);
    return body.data.submitPlan;
  };
  theirs = [await submit(false), await submit(true), await submit(true), await submit(true)];
  const [, waiting, doubtful, failed] = theirs;
  await askApprovalAs(store, waiting!.planId as never);
  await doubtAs(store, doubtful!.planId as never);
  await failAs(store, failed!.planId as never);
});
afterAll(() => running.close());

const schema = buildSchema(SDL);
/** Each argument that names something by its id: the operation and the argument. */
const cases = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!].flatMap(
  (type) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args
        .filter(({ name }) => ID_ARGUMENTS.includes(name))
        .map(({ name }): [string, string, GraphQLField<unknown, unknown>, string] => [
          type.name,
          field.name,
          field,
          name,
        ]),
    ),
);

function documentOf(operation: string, field: GraphQLField<unknown, unknown>, argument: string): string {
  const others = field.args.filter(
    ({ type, name, defaultValue }) =>
      name !== argument && (isNonNullType(type) || ALTERNATIVES.has(name)) && defaultValue === undefined,
  );
  const given = others.map(({ name }) => `${name}: ${OTHER_ARGUMENTS[name]}`);
  return `${operation.toLowerCase()} ($id: ID!) { ${field.name}(${[`${argument}: $id`, ...given].join(", ")}) ${selectionOf(field)} }`;
}

/** Selects nothing that could exist: any answer would reveal it. */
const selectionOf = ({ type }: GraphQLField<unknown, unknown>): string =>
  /JSON/.test(String(type)) ? "" : "{ __typename }";

/** An answer with the requested id removed. */
async function answerTo(operation: string, document: string, id: string): Promise<string> {
  const answered =
    operation === "Subscription"
      ? await subscribe(document, id)
      : (await running.graphql(document, { id }, intruder)).text;
  return answered.replaceAll(id, "ID");
}

async function subscribe(document: string, id: string): Promise<string> {
  const client = webSocketClient(running.api.url, { connectionParams: intruder });
  const answer = await client.iterate({ query: document, variables: { id } }).next();
  return JSON.stringify(answer.value);
}

test("such operations exist", () => {
  expect(cases.map(([, field]) => field)).toEqual(
    expect.arrayContaining(["request", "plan", "cancel", "requestUpdated"]),
  );
});

test.each(cases)("%s.%s: the id of another tenant is unknown", async (operation, _name, field, argument) => {
  const document = documentOf(operation, field, argument);
  const isPlan = argument === "planId" || (argument === "id" && field.name === "plan");
  const isOutput = argument === "ref";
  const idOf = ({ requestId, planId }: { requestId: string; planId: string }) =>
    isOutput ? `${planId}/steps/createAuthor` : isPlan ? planId : requestId;
  const unknown = await answerTo(
    operation,
    document,
    idOf({ requestId: UNKNOWN.request, planId: UNKNOWN.plan }),
  );
  expect(unknown).toContain("NOT_FOUND");
  const before = JSON.stringify(await everythingOf("owner"));
  for (const ids of theirs) expect(await answerTo(operation, document, idOf(ids))).toBe(unknown);
  expect(JSON.stringify(await everythingOf("owner"))).toBe(before);
});

async function everythingOf(tenant: string): Promise<unknown> {
  const { items } = await running.store.listRequests(tenant, { first: 100 });
  return [items, await Promise.all(items.map(({ planId }) => running.store.getPlan(tenant, planId)))];
}

test("lists contain only requests of the caller's tenant, with every filter", async () => {
  const [{ requestId } = { requestId: "" }] = theirs;
  for (const filter of [
    "{}",
    '{ tool: "createAuthor" }',
    '{ errorCode: "TOOL_FAILED" }',
    "{ status: [READY, EXECUTING, FAILED] }",
  ]) {
    const { body } = await running.graphql(
      `{ requests(filter: ${filter}) { nodes { requestId } } }`,
      {},
      intruder,
    );
    expect(body).toEqual({ data: { requests: { nodes: [] } } });
  }
  expect(await running.store.getRequest("owner", requestId as never)).not.toBeNull();
});

test("an idempotencyKey is separate for each tenant", async () => {
  const submit = (headers: { authorization: string }) =>
    running.graphql(
      'mutation ($plan: JSON!) { submitPlan(plan: $plan, idempotencyKey: "k1") { requestId } }',
      { plan: BLOG_PLAN },
      headers,
    );
  const own = await submit(intruder);
  const other = await submit(await bearer(running.store, ["execute"], { tenant: "third" }));
  expect(own.body.data.submitPlan.requestId).not.toBe(other.body.data.submitPlan.requestId);
});

test.each(["get_request", "cancel_request"])(
  "the MCP tool %s does not find ids of other tenants",
  async (name) => {
    const client = new Client({ name: "agent", version: "1" });
    const url = new URL("/mcp", running.api.url);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: intruder } }));
    onTestFinished(() => client.close());
    const ask = async (requestId: string) =>
      JSON.stringify(await client.callTool({ name, arguments: { requestId } })).replaceAll(requestId, "ID");
    const unknown = await ask(UNKNOWN.request);
    expect(unknown).toContain("NOT_FOUND");
    for (const { requestId } of theirs) expect(await ask(requestId)).toBe(unknown);
  },
);
