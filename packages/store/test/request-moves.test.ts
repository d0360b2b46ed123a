/** The store makes every move of the requests' lifecycle. */
import { PlanSchema, REQUEST_LIFECYCLE, type RequestId, type RequestStatus } from "@planwright/plan";
import { toFreeQuestions } from "@planwright/reading";
import { createStore, type PlanningClaim, type Store } from "@planwright/store";
import { eventually, testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";

const TENANT = "t1";
const PLAN = PlanSchema.parse({ steps: [{ id: "a", tool: "a", arguments: {} }] });
const RESULT = {
  plan: PLAN,
  raw: null,
  origin: { kind: "model", model: "openai:test" },
  diagnostics: [],
} as const;
const REFUSED = { error: { code: "REPLAN_UNCHANGED", message: "the same again" }, diagnostics: [] };
const url = testServers().mongodbUrl;
let store: Store;
let client: MongoClient;

beforeAll(async () => {
  [store, client] = await Promise.all([createStore({ url }), MongoClient.connect(url)]);
});
afterAll(async () => {
  await Promise.all([store.close(), client.close()]);
});

type End = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED";
type Action = (requestId: RequestId) => Promise<unknown>;
interface RequestOptions {
  autoExecute?: boolean;
  maxReplans?: number;
}

const claimed = (id: RequestId): Promise<PlanningClaim> =>
  eventually(() => store.claimRequest(id, "planner"));
const plan: Action = async (id) => store.completePlanning(await claimed(id), { ...RESULT, diagnostics: [] });
const planOf = async (id: RequestId) => (await store.getRequest(TENANT, id))!.planId;
const queue: Action = async (id) => store.queuePlan(TENANT, await planOf(id), id);
const end =
  (status: End): Action =>
  async (id) => {
    const planId = await planOf(id);
    const claim = await eventually(() => store.claimPlan(planId, "executor"));
    await store.finishPlan(claim, { type: "finish", status, outputs: {} });
  };
const rerun =
  (autoExecute: boolean): Action =>
  (id) =>
    store.rerunPlan(TENANT, id, { from: "a", autoExecute });
const replan: Action = (id) => store.requestReplan(TENANT, id, { note: null, execute: true });
const ask: Action = async (id) =>
  store.askQuestions(await claimed(id), { questions: toFreeQuestions(["Who?"], 0), draft: null });
const answer: Action = async (id) => {
  const { questions } = (await store.getRequest(TENANT, id))!;
  const answers = questions.map(({ id: questionId, question }) => ({
    questionId,
    question,
    answer: "I",
    gives: null,
  }));
  await store.answerQuestions(TENANT, id, { answers, discardsDraft: true });
};
const cancel: Action = async (id) => store.requestCancel(TENANT, await planOf(id), "client");
/** The plan is started, and the process dies before it writes the request. */
const queueAndDie: Action = async (id) => {
  await queue(id);
  const requests = client.db().collection<{ _id: string }>("requests");
  await requests.updateOne({ _id: id }, { $set: { status: "READY" } });
};

const READY: RequestOptions = { autoExecute: false };
const ends = (to: End): [RequestStatus, RequestStatus, RequestOptions, ...Action[]][] => [
  ["EXECUTING", to, {}, plan, end(to)],
  ["READY", to, READY, plan, ...(to === "CANCELLED" ? [cancel] : [queueAndDie, end(to)])],
  [to, "READY", {}, plan, end(to), rerun(false)],
  [to, "EXECUTING", {}, plan, end(to), rerun(true)],
  ...(to === "COMPLETED"
    ? []
    : [[to, "PLANNING", {}, plan, end(to), replan] as [End, "PLANNING", RequestOptions, ...Action[]]]),
];

/** Moves of requests. The last action makes the move; the others prepare it. */
const MOVES: [from: RequestStatus, to: RequestStatus, options: RequestOptions, ...actions: Action[]][] = [
  ["PLANNING", "NEEDS_INPUT", {}, ask],
  ["NEEDS_INPUT", "PLANNING", {}, ask, answer],
  ["PLANNING", "READY", READY, plan],
  ["PLANNING", "EXECUTING", {}, plan],
  [
    "PLANNING",
    "PARTIAL",
    { maxReplans: 1 },
    plan,
    end("PARTIAL"),
    async (id) => store.failReplan(await claimed(id), REFUSED),
  ],
  [
    "PLANNING",
    "FAILED",
    {},
    async (id) => store.failPlanning(await claimed(id), { ...RESULT, ...REFUSED, plan: null }),
  ],
  ["PLANNING", "CANCELLED", {}, (id) => store.cancelPlanning(TENANT, id)],
  ["READY", "EXECUTING", READY, plan, queue],
  ["READY", "PLANNING", { ...READY, maxReplans: 1 }, plan, queueAndDie, end("FAILED")],
  ["EXECUTING", "PLANNING", { maxReplans: 1 }, plan, end("FAILED")],
  ...ends("COMPLETED"),
  ...ends("PARTIAL"),
  ...ends("FAILED"),
  ...ends("CANCELLED"),
];

test.each(MOVES)("a request moves from %s to %s", async (from, to, options, ...actions) => {
  const { _id } = await store.createRequest({
    tenant: TENANT,
    query: "do it",
    autoExecute: true,
    ...options,
  });
  for (const action of actions.slice(0, -1)) await action(_id);
  expect((await store.getRequest(TENANT, _id))?.status).toBe(from);
  await actions.at(-1)?.(_id);
  expect((await store.getRequest(TENANT, _id))?.status).toBe(to);
});

test("these are all moves of the requests' lifecycle, and no others", () => {
  const made = new Set(MOVES.map(([from, to]) => `${from} -> ${to}`));
  const allowed = Object.entries(REQUEST_LIFECYCLE).flatMap(([from, { moves }]) =>
    moves.map((to) => `${from} -> ${to}`),
  );
  expect(made).toEqual(new Set(allowed));
});
