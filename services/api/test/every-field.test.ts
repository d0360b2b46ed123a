/**
 * Every field of every type, through every query and subscription: each selection is generated from the
 * schema, and read from requests that have every kind of record.
 */
import { type GraphQLField, getNamedType, isObjectType, isRequiredArgument } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSchema } from "../src/resolvers/executable-schema.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { webSocketClient } from "./web-socket-client.ts";
import {
  APPROVAL_HASH,
  askApprovalAs,
  claimOnceDue,
  doubtAs,
  executeAs,
  failAs,
  failPlanningAs,
  keepDraftAs,
  planAs,
  writeCalled,
} from "./workers.ts";

const schema = createSchema();
type Ids = Readonly<Record<string, string>>;

/** Arguments that a field needs, or that keep the cost of its list low. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  requestId: "$requestId",
  id: "$planId",
  ref: "$ref",
  seq: "1000",
  from: JSON.stringify(new Date(Date.now() - 3_600_000)),
  first: "2",
  plan: '{ steps: [{ id: "a", tool: "none", arguments: {} }] }',
};

/** Selects every field of the type of a field; of objects only their type. */
function selectionOf(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return "";
  const inside = Object.values(type.getFields()).map((each) =>
    isObjectType(getNamedType(each.type)) ? `${called(each)} { __typename }` : called(each),
  );
  return `{ __typename ${inside.join(" ")} }`;
}

function called({ name, args }: GraphQLField<unknown, unknown>): string {
  const given = args.filter((each) => isRequiredArgument(each) || each.name === "first");
  return given.length === 0
    ? name
    : `${name}(${given.map((each) => `${each.name}: ${ARGUMENTS[each.name]}`).join(", ")})`;
}

/** Names of the object types that a query or subscription can return. */
const reachable = new Set<string>();

/** One selection for each field with an object type that can be reached from a root, on the shortest way. */
function selectionsFrom(root: GraphQLField<unknown, unknown>): { place: string; selection: string }[] {
  const selections: { place: string; selection: string }[] = [];
  const opened = new Set<string>();
  let level = [{ field: root, place: root.name, around: (inner: string) => inner }];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { field, place, around } of level) {
      selections.push({ place, selection: around(`${called(field)} ${selectionOf(field)}`) });
      const type = getNamedType(field.type);
      if (!isObjectType(type) || opened.has(type.name)) continue;
      reachable.add(type.name);
      opened.add(type.name);
      for (const inner of Object.values(type.getFields())) {
        if (!isObjectType(getNamedType(inner.type))) continue;
        const outside = (text: string) => around(`${called(field)} { ${text} }`);
        next.push({ field: inner, place: `${type.name}.${inner.name}`, around: outside });
      }
    }
    level = next;
  }
  return selections;
}

const documentOf = (kind: string, selection: string): string => {
  const declared = ["requestId", "planId", "ref"].filter((name) => selection.includes(`$${name}`));
  const variables = declared.map((name) => `$${name}: ID!`).join(", ");
  return `${kind} ${variables && `(${variables})`} { ${selection} }`;
};

/** Adds the names of all types in an answer. */
function noteTypes(value: unknown, seen: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "__typename") seen.add(String(inner));
    else noteTypes(inner, seen);
  }
}

let running: RunningApi;
beforeAll(async () => {
  // Outputs are references, so that both forms of an output are read.
  running = await startTestApi({ inlineOutputBytes: 16 });
});
afterAll(() => running.close());

const LISTED_PLAN = {
  steps: [
    ...BLOG_PLAN.steps,
    {
      id: "each",
      tool: "createAuthor",
      forEach: {
        items: ["Ann", "Bob"],
        as: "name",
        errors: "collect",
        do: { tool: "createAuthor", arguments: { name: "<<name>>", email: "a@test.com" } },
      },
    },
  ].map(({ id, ...step }) => ("forEach" in step ? { id, forEach: step.forEach } : { id, ...step })),
  outputs: { author: "<<createAuthor>>" },
};

async function created(plan: unknown): Promise<Ids> {
  const { body } = await running.graphql(
    `mutation { createPlan(query: "everything", tags: ["all"], limits: { maxModelCalls: 9 }) {
       requestId planId } }`,
  );
  const ids = body.data.createPlan;
  await planAs(running.store, ids.requestId, plan);
  await running.store.recordModelCall({
    requestId: ids.requestId,
    tenant: "default",
    purpose: "draft",
    model: "openai:x",
    attempt: 1,
    messages: [],
    answer: "{}",
    finishReason: "stop",
    inputTokens: 1,
    outputTokens: 1,
    latencyMs: 1,
    costUsd: 0.1,
    error: null,
  });
  return { ...ids, ref: `${ids.planId}/steps/createAuthor` };
}

const control = async (text: string, requestId: string | undefined): Promise<void> => {
  const { body } = await running.graphql(`mutation ($id: ID!) { ${text} { id } }`, { id: requestId });
  expect(body.errors).toBeUndefined();
};

/** A plan that was in doubt and waits for approval, with a decision of an operator on both, and with a list. */
async function decided(): Promise<Ids> {
  const { store } = running;
  const ids = await created(LISTED_PLAN);
  const { requestId, planId } = ids;
  await doubtAs(store, planId as never);
  await control(
    'resolveInDoubt(requestId: $id, stepKey: "createAuthor", resolution: completed, output: { _id: "a1" })',
    requestId,
  );
  const claim = await claimOnceDue(store, planId as never);
  await store.writeRecords(
    claim,
    [
      {
        key: "createAuthor",
        stepId: "createAuthor",
        status: "COMPLETED",
        attempts: 1,
        output: { _id: "a1" },
      },
    ],
    [],
  );
  await writeCalled(store, claim, [
    { key: "each[0]", stepId: "each", item: 0, status: "COMPLETED", attempts: 1, output: { _id: "a2" } },
    {
      key: "each[1]",
      stepId: "each",
      item: 1,
      status: "FAILED",
      attempts: 1,
      error: { code: "TOOL_FAILED", message: "taken", retryable: false, data: { name: "Bob" } },
    },
  ]);
  const toApprove = {
    key: "createBlog",
    stepId: "createBlog",
    status: "WAITING_APPROVAL" as const,
    attempts: 0,
    arguments: { title: "Hello" },
    approvalHash: APPROVAL_HASH,
  };
  await store.writeRecords(claim, [toApprove], []);
  await store.releasePlan(claim, { status: "WAITING", reason: "approval", dueAtMs: null });
  await control(
    `approve(requestId: $id, stepId: "createBlog", approvalHash: "${APPROVAL_HASH}", reason: "fine")`,
    requestId,
  );
  return ids;
}

/** A request whose first version failed after an approval; the second one, with a carried step, completed. */
async function repeated(): Promise<Ids> {
  const { store } = running;
  const { requestId = "", planId } = await created(BLOG_PLAN);
  await askApprovalAs(store, planId as never);
  await control(
    `approve(requestId: $id, stepId: "createAuthor", approvalHash: "${APPROVAL_HASH}")`,
    requestId,
  );
  await failAs(store, planId as never);
  await control("rerun(requestId: $id)", requestId);
  const { body } = await running.graphql("query ($id: ID!) { request(requestId: $id) { planId } }", {
    id: requestId,
  });
  const current = body.data.request.planId;
  await executeAs(store, current);
  return { requestId, planId: current, ref: `${current}/steps/createAuthor` };
}

/** A request that waits for an answer after another one was given. */
async function asked(): Promise<Ids> {
  const { body } = await running.graphql('mutation { createPlan(query: "ask me") { requestId planId } }');
  const { requestId } = body.data.createPlan;
  await keepDraftAs(running.store, requestId, "model");
  const open = await running.graphql(
    "query ($id: ID!) { request(requestId: $id) { openQuestions { id parameter } } }",
    { id: requestId },
  );
  const [{ id }] = open.body.data.request.openQuestions;
  await control(
    `answerQuestions(requestId: $id, values: [{ questionId: "${id}", value: "a@test.com" }])`,
    requestId,
  );
  return { requestId };
}

/** A request whose planning failed. */
async function unplanned(): Promise<Ids> {
  const { body } = await running.graphql('mutation { createPlan(query: "fail") { requestId } }');
  const { requestId } = body.data.createPlan;
  await failPlanningAs(running.store, requestId, { code: "MODEL_REFUSED", message: "The model refused" });
  return { requestId };
}

/** A request that waits for a model that is away. */
async function postponed(): Promise<Ids> {
  const { body } = await running.graphql('mutation { createPlan(query: "wait") { requestId } }');
  const { requestId } = body.data.createPlan;
  const claim = (await running.store.claimRequest(requestId, "test planner"))!;
  const error = { code: "MODEL_UNREACHABLE", message: "HTTP 500" };
  const away = { error, pauseMs: () => 600_000, requestedMs: 0, unreachableMs: 600_000 };
  await running.store.postponePlanning(claim, away);
  return { requestId };
}

/** What only a fleet with a history has; its own tests read these types. */
const UNSEEN = new Set([
  "LostWorker",
  "OldestWaiting",
  "ToolErrorCount",
  "ObservedOutput",
  "UnsentTries",
  "ArgumentsPreview",
]);

/**
 * `npm test` reads every query and subscription, and every field of every type on the way by which it is found first;
 * `npm run proof` reads every field on every way.
 */
for (const { ways, options } of [
  { ways: "one way", options: {} },
  { ways: "every query and every subscription", options: { tags: ["proof"] } },
])
  test(`every field of every type is readable through ${ways}`, {
    timeout: 240_000,
    ...options,
  }, async () => {
    const { store, graphql, api } = running;
    /** Fields of types that were read. */
    const read = new Set<string>();
    const isNew = (place: string) => ways !== "one way" || (!read.has(place) && read.add(place));
    await store.addWorker({ _id: `planner of ${ways}`, kind: "planner", deadAfterMs: 3_600_000 });
    await store.publishServer({
      server: "shop",
      state: "connected",
      tools: 0,
      leftOut: [{ server: "shop", tool: "none", reason: "it has no inputSchema" }],
      leftOutCount: 1,
      error: null,
      stderrTail: null,
      since: new Date(),
      nextAttemptAt: null,
      executor: "host:1:abc",
    });
    await store.holdSignIn("shop", "executor", 60_000);
    await store.storeSignIn("shop", "executor", {
      url: "https://shop.example.com/mcp",
      sealed: "",
      tokensEndAt: null,
      asked: { authorizationUrl: "https://auth.example.com", state: "state", since: new Date() },
      error: null,
    });
    const seen = new Set<string>();
    const failures: unknown[] = [];
    const subscriptions = schema.getSubscriptionType()?.getFields() ?? {};
    const note = (place: string, { data, errors }: { data?: unknown; errors?: unknown }): void => {
      noteTypes(data, seen);
      if (errors) failures.push({ place, errors });
    };

    // Followed from the beginning: each write below is a change.
    const client = webSocketClient(api.url);
    const changed = new Map<string, Set<string>>();
    const { requestsUpdated } = subscriptions;
    const lists = selectionsFrom(requestsUpdated!);
    let areListsOpen = 0;
    for (const { place, selection } of lists) {
      const own = new Set<string>();
      changed.set(place, own);
      const query = documentOf("subscription", selection.replace("{", "{ changedId: requestId "));
      client.subscribe<{ requestsUpdated: { changedId: string | null } }>(
        { query },
        {
          next(result) {
            const id = result.data?.requestsUpdated.changedId;
            if (id) own.add(id);
            else areListsOpen += 1;
            note(`requestsUpdated ${place}`, result);
          },
          error: (error) => failures.push({ place, errors: error }),
          complete: () => undefined,
        },
      );
    }
    await expect.poll(() => failures.length > 0 || areListsOpen === lists.length).toBe(true);
    expect(failures).toEqual([]);

    const others = [await decided(), await asked(), await unplanned(), await postponed()];
    // The newest, for lists; its plan stands for those that two of the others do not have.
    const ended = await repeated();
    const all = [ended, ...others.map((ids) => ({ ...ended, ...ids }))];
    for (const ids of all) {
      const isTold = () => [...changed.values()].every((own) => own.has(ids["requestId"] ?? ""));
      await expect.poll(() => failures.length > 0 || isTold(), { timeout: 10_000 }).toBe(true);
    }
    expect(failures).toEqual([]);

    const isOfRequest = ({ args }: GraphQLField<unknown, unknown>) =>
      args.some(({ name }) => ["requestId", "id", "ref"].includes(name));
    // The first ways are those on which every kind of request is read.
    const roots = Object.values(schema.getQueryType()?.getFields() ?? {}).toSorted(
      (one, other) => Number(isOfRequest(other)) - Number(isOfRequest(one)),
    );
    for (const root of roots) {
      for (const { place, selection } of selectionsFrom(root).filter((one) => isNew(one.place))) {
        for (const ids of isOfRequest(root) ? all : [ended]) {
          const { body } = await graphql(documentOf("query", selection), ids);
          note(`${root.name} ${place}`, body);
        }
      }
    }
    for (const [index, { place, selection }] of selectionsFrom(subscriptions["requestUpdated"]!).entries()) {
      for (const variables of ways === "one way" ? [all[index % all.length]!] : all) {
        const source = client.iterate({ query: documentOf("subscription", selection), variables });
        const { value } = await source.next();
        note(`requestUpdated ${place}`, value ?? {});
        await source.return?.();
      }
    }
    expect(failures).toEqual([]);

    expect([...reachable].filter((type) => !seen.has(type) && !UNSEEN.has(type))).toEqual([]);
  });
