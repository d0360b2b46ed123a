import { findDue } from "@planwright/testing";
import { buildSchema, Kind, parse } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SDL } from "../src/index.ts";
import { graphqlExamples as examples, otherLines } from "./readme-examples.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { APPROVAL_HASH, askApprovalAs, askAs, doubtAs, executeAs, failAs, playWorkers } from "./workers.ts";

let running: RunningApi;
let workers: ReturnType<typeof playWorkers>;
beforeAll(async () => {
  running = await startTestApi();
  const { store } = running;
  workers = playWorkers(running, async (planId) => {
    if ((await findDue(store.planLeases, 100)).includes(planId)) await executeAs(store, planId);
  });
});
afterAll(async () => {
  await workers.stop();
  await running.close();
});

/**
 * What must have happened to a queued plan before an example can work, by text in the example; null: the plan
 * must
 * not be queued.
 */
const SITUATIONS: [string, ((planId: string) => Promise<unknown>) | null][] = [
  ["executePlan(", null],
  ["cancel(", async () => undefined],
  ["pause(", async () => undefined],
  ["resume(", (planId) => running.store.requestPause("default", planId, "client")],
  ["requestUpdated(", (planId) => executeAs(running.store, planId)],
  ["approve(", (planId) => askApprovalAs(running.store, planId)],
  ["resolveInDoubt(", (planId) => doubtAs(running.store, planId)],
  ["resolveManyInDoubt(", (planId) => doubtAs(running.store, planId)],
  ["output(ref", (planId) => executeAs(running.store, planId)],
  ["amendPlan(", null],
  ["rerun(", (planId) => failAs(running.store, planId)],
  ["replan(", (planId) => failAs(running.store, planId)],
];

/** A request with a plan in that situation. */
async function prepared(
  play: ((planId: string) => Promise<unknown>) | null,
): Promise<{ requestId: string; planId: string }> {
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId } }",
    { plan: BLOG_PLAN },
  );
  const { requestId, planId } = body.data.submitPlan;
  if (!play) return { requestId, planId };
  // Not queued: otherwise the running workers would claim it first.
  await running.store.queuePlan("default", planId, requestId);
  await play(planId);
  return { requestId, planId };
}

/** A request with open questions. */
async function asking(): Promise<string> {
  const input = { tenant: "default", query: "Create author Alice", autoExecute: false };
  const { _id: requestId } = await running.store.createRequest(input);
  await askAs(running.store, requestId, ["Which email has Alice?"]);
  return requestId;
}

/** The status of a plan that an example may start; undefined if there is no plan. */
async function planHashOf(planId: string): Promise<string> {
  const { body } = await running.graphql("query ($id: ID!) { plan(id: $id) { planHash } }", { id: planId });
  return body.data?.plan?.planHash ?? "";
}

/** The field of an example, such as "Mutation.cancel". */
function fieldsOf(body: string): string[] {
  const { definitions } = parse(JSON.parse(body).query);
  return definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
    const { operation, selectionSet } = definition;
    const type = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}`;
    return selectionSet.selections.map((field) =>
      field.kind === Kind.FIELD ? `${type}.${field.name.value}` : "",
    );
  });
}

test("every command of the README is run by a test", () => {
  expect(otherLines).toEqual([]);
});

test("every operation of the schema has an example", () => {
  const schema = buildSchema(SDL);
  const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (type) => Object.keys(type!.getFields()).map((name) => `${type!.name}.${name}`),
  );
  const shown = new Set(examples.flatMap(({ body }) => fieldsOf(body)));
  expect(fields.filter((field) => !shown.has(field))).toEqual([]);
});

/** Reads the stream to its end: it must have no error, and end with an ended request. */
function expectEvents(body: string, text: string): void {
  expect({ body, text }).toEqual({
    body,
    text: expect.stringMatching(/"status":"COMPLETED".*\n\nevent: complete\n/s),
  });
  expect(text).not.toContain('"errors"');
}

/** The first event of a stream that does not end. */
async function firstEvent(path: string, body: string): Promise<string> {
  const leaving = new AbortController();
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const { signal } = leaving;
  const answer = await fetch(new URL(path, running.api.url), { method: "POST", headers, body, signal });
  let text = "";
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("event: next") && text.endsWith("\n\n")) break;
  }
  leaving.abort();
  return text;
}

test("every example works, one after another, with the ids from earlier ones", async () => {
  let requestId = "";
  let planId = "";
  for (const { path, body } of examples) {
    const situation = SITUATIONS.find(([field]) => body.includes(field));
    if (situation) ({ requestId, planId } = await prepared(situation[1]));
    if (body.includes("answerQuestions(")) requestId = await asking();
    const text = body
      .replace(/req_1700000000_[a-z]+/, requestId)
      .replace(/plan_1700000000_[a-z]+/, planId)
      .replace("0".repeat(64), APPROVAL_HASH)
      .replace("1".repeat(64), await planHashOf(planId));
    if (body.includes("requestsUpdated(")) {
      expect(await firstEvent(path, text)).toContain('{"data":{"requestsUpdated":{"kind":"READ_LIST"');
      continue;
    }
    const answer = await running.send(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: path === "/graphql" ? "application/json" : "text/event-stream",
      },
      body: text,
    });
    if (path !== "/graphql") {
      expectEvents(body, answer.text);
      continue;
    }
    if (body.includes("reloadToolServer(") || body.includes("suggestContracts(")) {
      // Here no executor has tool servers: it is a valid operation without a server of this name.
      expect(answer.body.errors).toMatchObject([{ extensions: { code: "NOT_FOUND" } }]);
      continue;
    }
    expect({ body, status: answer.status, errors: answer.body.errors }).toEqual({
      body,
      status: 200,
      errors: undefined,
    });
    for (const value of Object.values<{ requestId?: string; planId?: string }>(answer.body.data)) {
      requestId = value.requestId ?? requestId;
      planId = value.planId ?? planId;
    }
    // The next example may read the plan, so the planner must have finished.
    for (;;) {
      const request = requestId === "" ? null : await running.store.getRequest("default", requestId);
      if (request?.status !== "PLANNING") break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});
