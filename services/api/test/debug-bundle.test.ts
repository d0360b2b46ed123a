import {
  BUNDLED_REQUEST,
  BUNDLED_STEP,
  graphql,
  JOURNAL_EVENT,
  MODEL_CALL,
  PLAN_RUN,
} from "@planwright/client";
import type { Scope } from "@planwright/store";
import { print } from "graphql";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { isWellFormed } from "../src/arguments/text.ts";
import { bearer } from "./keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { CREATE_AUTHOR, failAs, planAs, playStep } from "./workers.ts";

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
  await running.store.addWorker({ _id: "executor alive", kind: "executor", deadAfterMs: 3_600_000 });
});
afterAll(() => running.close());

const bundleOf = async (requestId: string) => {
  const { body } = await running.graphql("query ($id: ID!) { debugBundle(requestId: $id) }", {
    id: requestId,
  });
  expect(body.errors).toBeUndefined();
  return body.data.debugBundle;
};

/** A request with two versions, of which the first one failed. */
async function requestOfTwoVersions(query: string): Promise<string> {
  const { body } = await running.graphql(
    "mutation ($query: String!) { createPlan(query: $query) { requestId planId } }",
    { query },
  );
  const { requestId, planId } = body.data.createPlan;
  await planAs(running.store, requestId);
  await failAs(running.store, planId);
  await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { planId } }", { id: requestId });
  return requestId;
}

test("debugBundle contains request, versions, steps, attempts, model calls, tools and events", async () => {
  const requestId = await requestOfTwoVersions("bundle this");
  const bundle = await bundleOf(requestId);
  expect(bundle).toMatchObject({
    formatVersion: 2,
    requestId,
    request: { query: "bundle this", status: "EXECUTING", version: 2 },
    plans: [
      { version: 2, status: "QUEUED", document: { formatVersion: 1 }, steps: [{}, {}] },
      {
        version: 1,
        status: "FAILED",
        raw: "{}",
        steps: [
          {
            key: "createAuthor",
            status: "FAILED",
            attempts: [{ attempt: 1, outcome: "failed", error: { code: "TOOL_FAILED" } }],
          },
          { key: "createBlog", status: "SKIPPED" },
        ],
      },
    ],
    modelCalls: [{ purpose: "draft", messages: [{ role: "user", content: "bundle this" }] }],
    leftOut: [],
  });
  const types = bundle.events.map(({ type }: { type: string }) => type);
  for (const type of ["plan.stored", "attempt.started", "attempt.ended", "plan.ended"])
    expect(types).toContain(type);
  const entries = bundle.events.map(({ seq }: { seq: number }) => seq);
  expect(entries).toEqual(entries.toSorted((a: number, b: number) => a - b));
});

test("debugBundle is the API's own answer to the selections of the client", async () => {
  const requestId = await requestOfTwoVersions("answer this");
  const current = (await bundleOf(requestId)).plans[0].planId;
  await failAs(running.store, current);
  const { request, plans, events, modelCalls } = await bundleOf(requestId);
  const operation = graphql(
    `query ($id: ID!) {
      request(requestId: $id) {
        ...BundledRequest plans { ...PlanRun document raw steps { ...BundledStep } }
        modelCalls { ...ModelCallRun } events(first: 100) { nodes { ...RunEvent } }
      }
    }`,
    [BUNDLED_REQUEST, PLAN_RUN, BUNDLED_STEP, MODEL_CALL, JOURNAL_EVENT],
  );
  const { body } = await running.graphql(print(operation), { id: requestId });
  const { plans: served, modelCalls: calls, events: page, ...own } = body.data.request;
  const withoutOutputs = (list: object[]) => list.map((plan) => ({ ...plan, outputs: null }));
  expect({ request, events, modelCalls }).toEqual({ request: own, events: page.nodes, modelCalls: calls });
  expect(withoutOutputs(plans)).toEqual(withoutOutputs(served));
});

test.each([
  ["alive", { outcome: null, error: null }],
  ["lost", { outcome: "unknown", error: { code: "EXECUTOR_LOST" } }],
])("debugBundle tells a call whose executor is %s as the request does", async (state, expected) => {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  const { requestId, planId } = body.data.submitPlan;
  const claim = (await running.store.claimPlan(planId, `executor ${state}`))!;
  await running.store.writeIntents(claim, [{ call: CREATE_AUTHOR, attemptId: "a1", argsHash: "h" }]);
  const bundle = await bundleOf(requestId);
  const shown = await running.graphql(
    "query ($id: ID!) { plan(id: $id) { steps { attempts { outcome effect endedAt error { code } } } } }",
    { id: planId },
  );
  for (const plan of [bundle.plans[0], shown.body.data.plan])
    expect(plan.steps[0].attempts).toMatchObject([{ ...expected, effect: "possible", endedAt: null }]);
});

test("debugBundle has the times of each version as the API tells them", async () => {
  const requestId = await requestOfTwoVersions("time this");
  const [, ended] = (await bundleOf(requestId)).plans;
  const { body } = await running.graphql(
    "query ($id: ID!) { plan(id: $id) { durationMs waitedForPeopleMs } }",
    {
      id: ended.planId,
    },
  );
  expect(ended).toMatchObject(body.data.plan);
  expect(ended.durationMs).toEqual(expect.any(Number));
});

test("debugBundle needs as many reads for many versions as for two", async () => {
  const requestId = await requestOfTwoVersions("bundle these");
  const listSteps = vi.spyOn(running.store, "listStepHeads");
  const readBodies = vi.spyOn(running.store, "readStepValues");
  onTestFinished(() => void [listSteps, readBodies].map((spy) => spy.mockRestore()));
  const readsOf = async (): Promise<[number, number]> => {
    listSteps.mockClear();
    readBodies.mockClear();
    const { plans } = await bundleOf(requestId);
    expect(plans.map(({ steps }: { steps: unknown[] }) => steps.length)).toEqual(plans.map(() => 2));
    return [plans.length, listSteps.mock.calls.length + readBodies.mock.calls.length];
  };
  expect(await readsOf()).toEqual([2, 3]);
  for (let version = 2; version < 6; version += 1) {
    const { body } = await running.graphql("query ($id: ID!) { request(requestId: $id) { planId } }", {
      id: requestId,
    });
    await failAs(running.store, body.data.request.planId);
    await running.graphql("mutation ($id: ID!) { rerun(requestId: $id) { planId } }", { id: requestId });
  }
  expect(await readsOf()).toEqual([6, 3]);
});

test("debugBundle contains the pinned and the current tool descriptors", async () => {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }",
    {
      plan: { steps: [{ id: "a", tool: "createAuthor", arguments: { name: "Ann", email: "a@b.c" } }] },
    },
  );
  const { tools } = await bundleOf(body.data.submitPlan.requestId);
  expect(tools).toMatchObject([
    {
      pin: { tool: "createAuthor", server: "blog", digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      versions: [1],
      changedSince: [],
      descriptorNow: { name: "createAuthor" },
    },
  ]);
  expect(tools[0].digestNow).toBe(tools[0].pin.digest);
});

/** Submits a plan of one step, which completes with the output. */
async function completedWith(output: string | object, args: object = {}): Promise<string> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!, $query: String) { submitPlan(plan: $plan, query: $query) { requestId planId } }",
    {
      plan: {
        steps: [{ id: "a", tool: "createAuthor", arguments: { name: "Ann", email: "a@b.c", ...args } }],
      },
      query: "log in at https://ann:hidden@host with Bearer hidden.token.value",
    },
  );
  const { requestId, planId } = body.data.submitPlan;
  const claim = (await running.store.claimPlan(planId, "test executor"))!;
  await playStep(running.store, claim, "a", { arguments: { name: "Ann" }, output: output as never });
  return requestId;
}

test("debugBundle contains no secret values, and keeps names of secrets", async () => {
  const requestId = await completedWith(
    { apiKey: "hidden", text: JSON.stringify({ password: "hidden" }), ref: "secret://crm-key" },
    { name: JSON.stringify({ token: "hidden" }) },
  );
  const text = JSON.stringify(await bundleOf(requestId));
  expect(text).not.toContain("hidden");
  expect(text).toContain("secret://crm-key");
  expect(text).toContain("[redacted]");
});

test("debugBundle needs the scope read, and execute alone is refused", async () => {
  const api = await startTestApi({ anonymous: "refuse" });
  onTestFinished(() => api.close());
  const { _id } = await api.store.createRequest({ tenant: "default", query: "x", autoExecute: false });
  const ask = async (scopes: Scope[]) =>
    api.graphql(
      "query ($id: ID!) { debugBundle(requestId: $id) }",
      { id: _id },
      await bearer(api.store, scopes),
    );
  expect((await ask(["read"])).body.data.debugBundle).toMatchObject({ requestId: _id });
  const refused = await ask(["execute", "operate"]);
  expect(refused.status).toBe(403);
  expect(refused.body.errors).toMatchObject([{ extensions: { code: "FORBIDDEN", scope: "read" } }]);
});

test("debugBundle contains large outputs by name and size, and lists the omitted parts", async () => {
  const requestId = await completedWith({ text: "x".repeat(20_000) });
  const [{ steps }] = (await bundleOf(requestId)).plans;
  expect(steps[0].output).toMatchObject({
    sizeBytes: 20_011,
    preview: expect.stringMatching(/^\{"text":"x/),
  });
  const cut = await completedWith({ text: `${"x".repeat(1_023 - '{"text":"'.length)}${"😀".repeat(5_000)}` });
  const [{ steps: cutSteps }] = (await bundleOf(cut)).plans;
  expect(isWellFormed(cutSteps[0].output.preview)).toBe(true);
  const record = running.store.recordModelCall.bind(running.store);
  for (let made = 0; made < 30; made += 1) {
    await record({
      requestId: requestId as never,
      tenant: "default",
      purpose: "draft",
      model: "offline",
      messages: [{ role: "user", content: `${made} ${"é".repeat(50_000)}` }],
      answer: "",
      finishReason: null,
      inputTokens: null,
      outputTokens: null,
      latencyMs: 1,
      costUsd: null,
      error: null,
    });
  }
  const { modelCalls, leftOut } = await bundleOf(requestId);
  const [missing] = leftOut;
  expect(missing).toMatchObject({ where: "modelCalls", reason: "no room" });
  expect(modelCalls.length + missing.count).toBe(30);
  expect(missing.sizeBytes).toBeGreaterThan(missing.count * 100_000);
  expect(modelCalls.at(-1).messages[0].content).toMatch(/^29 /);
});

test("debugBundle has the latest events of a long journal, also when its entries are long, and tells of the others", async () => {
  const steps = Array.from({ length: 800 }, (_, index) => ({
    id: `s${index}`,
    tool: "createAuthor",
    arguments: { name: "Ann", email: "a@b.c" },
  }));
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId } }",
    { plan: { steps } },
  );
  const { requestId } = body.data.submitPlan;
  const ask = (field: string) =>
    running.graphql(`mutation ($id: ID!) { ${field} { planId } }`, { id: requestId });
  for (let version = 1; version <= 3; version += 1) {
    if (version > 1) await ask("rerun(requestId: $id, execute: false)");
    await ask("cancel(requestId: $id)");
  }
  const { events, request, leftOut } = await bundleOf(requestId);
  expect(request).toMatchObject({ version: 3, status: "CANCELLED" });
  expect(events.at(-1)).toMatchObject({ type: "plan.ended", planId: request.planId, seq: request.seq });
  const places = events.map(
    ({ seq, position }: { seq: number; position: number }) => seq * 10_000 + position,
  );
  expect(places).toEqual(places.toSorted((a: number, b: number) => a - b));
  expect(leftOut).toContainEqual({
    where: "events",
    count: 1,
    sizeBytes: null,
    reason: "not read, in entries",
  });
});

test("debugBundle of an unknown request is NOT_FOUND", async () => {
  const { body } = await running.graphql(`{ debugBundle(requestId: "req_1700000000_abcdefghijklmnopqrst") }`);
  expect(body.errors[0].extensions.code).toBe("NOT_FOUND");
});

test("aliases of one bundle share it, and bundles that do not fit together are refused before they are read", async () => {
  const api = await startTestApi({ maxAnswerBytes: 1_048_576 });
  onTestFinished(() => api.close());
  const catalogue = vi.spyOn(api.store, "toolCatalogue");
  const graphs = vi.spyOn(api.store, "readPlanGraphs");
  const submit = async (): Promise<string> => {
    const { body } = await api.graphql("mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }", {
      plan: {
        steps: [{ id: "a", tool: "createAuthor", arguments: { name: "x".repeat(380_000), email: "a@b.c" } }],
      },
    });
    return body.data.submitPlan.requestId;
  };
  const ids = [await submit(), await submit(), await submit()];
  const ask = async (wanted: string[]) => {
    catalogue.mockClear();
    graphs.mockClear();
    const fields = wanted.map((id, index) => `b${index}: debugBundle(requestId: "${id}")`);
    return (await api.graphql(`{ ${fields.join(" ")} }`)).body;
  };
  const [first = ""] = ids;
  const { data } = await ask([first, first]);
  expect(data.b0).toEqual(data.b1);
  // The diagnosis reads the tools of the tenant again when a second has passed.
  const ofAll = catalogue.mock.calls.filter(([tenant]) => tenant === undefined);
  expect([ofAll.length, graphs.mock.calls.length]).toEqual([1, 1]);
  const refused = await ask(ids);
  expect(refused).toMatchObject({ data: null, errors: [{ extensions: { code: "ANSWER_TOO_LARGE" } }] });
  expect(graphs.mock.calls.flatMap(([, planIds]) => planIds).length).toBeLessThan(ids.length);
});
