import { once } from "node:events";
import { createQueues, createSlots } from "@planwright/queue";
import { createStore, type Store } from "@planwright/store";
import {
  answer,
  type ModelServer,
  returnDatabase,
  startModelServer,
  startRoles,
  type TestServers,
  testAndProof,
  testServers,
} from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlannerProcess, spawnPlanner, startPlanner } from "./planner-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

const TENANT = "default";

let servers: TestServers;
let store: Store;
let model: ModelServer;
/** End the planners of a test. */
let ends: (() => Promise<unknown>)[];

beforeEach(async () => {
  servers = testServers();
  store = await createStore({ url: servers.mongodbUrl });
  model = await startModelServer();
  ends = [];
  await store.publishTools(
    "notes",
    TOOLS.map((descriptor) => ({ descriptor, digest: "0".repeat(64) })),
  );
});

afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  await model.close();
  await store.close();
  await returnDatabase(servers.mongodbUrl);
});

/** Starts a planner in the process of the test; resolves when it is ready. */
async function start(env: Record<string, string> = {}): Promise<void> {
  const inProcess = { HEALTH_PORT: "0", DEAD_AFTER_MS: "60000", SHUTDOWN_TIMEOUT_MS: "100" };
  const { end } = await startRoles(["planner"], { ...basics(), ...inProcess, ...env }, () => undefined);
  ends.push(end);
}

/** Starts a planner as a process, which a test ends, or of which there are several. */
async function startProcess(env: Record<string, string> = {}): Promise<PlannerProcess> {
  const planner = await startPlanner({ ...basics(), ...env });
  ends.push(() => planner.end("SIGKILL"));
  return planner;
}

const basics = () => ({
  MONGODB_URL: servers.mongodbUrl,
  REDIS_URL: servers.redisUrl,
  QUEUE_PREFIX: servers.redisPrefix,
  SWEEP_EVERY_MS: "100",
});
const withModel = () => ({ MODEL: "openai:test", OPENAI_BASE_URL: model.openAiUrl, MODEL_MAX_RETRIES: "0" });

const accept = (query: string, autoExecute = false) =>
  store.createRequest({ tenant: TENANT, query, autoExecute });
const statusOf = async (id: string) => (await store.getRequest(TENANT, id))?.status;

test("a request with a missing value asks for it and is planned with the answer", async () => {
  const request = await accept("Create folder");
  await start();
  await expect.poll(() => statusOf(request._id)).toBe("NEEDS_INPUT");
  const asked = await store.getRequest(TENANT, request._id);
  expect(asked?.questions).toMatchObject([{ question: expect.stringContaining("name") }]);
  const [question] = asked?.questions ?? [];
  const gives = { stepId: "createFolder", keys: ["name"], value: "Work" };
  await store.answerQuestions(TENANT, request._id, {
    answers: [{ questionId: question?.id ?? "", question: "", answer: "Work", gives }],
    discardsDraft: false,
  });
  await expect.poll(() => statusOf(request._id)).toBe("READY");
  const planned = await store.getPlan(TENANT, request.planId);
  expect(planned?.plan?.steps).toMatchObject([{ tool: "createFolder", arguments: { name: "Work" } }]);
  expect((await store.getRequest(TENANT, request._id))?.answers).toMatchObject([
    { questionId: "q1", answer: "Work", gives },
  ]);
});

test("a request that is only in MongoDB is found and planned", async () => {
  const request = await accept(SENTENCE);
  await start();
  await expect.poll(() => statusOf(request._id)).toBe("READY");
  const stored = await store.getPlan(TENANT, request.planId);
  expect(stored?.plan?.steps).toMatchObject([
    { id: "createFolder", arguments: { name: "Work" } },
    { id: "createNote", arguments: { title: "Hello", folderId: "<<createFolder._id>>" } },
  ]);
  expect(stored?.origin.kind).toBe("offline");
});

test("a job brings a request to a planner, and an executor gets a hint about a plan that must run at once", async () => {
  await start({ SWEEP_EVERY_MS: "60000" });
  const heard: string[] = [];
  const queue = { redisUrl: servers.redisUrl, prefix: servers.redisPrefix };
  const queues = createQueues(queue);
  const executor = await queues.startWorker({
    queue: "execution",
    slots: createSlots({ max: 1, isShared: () => false }),
    handle: async (id) => void heard.push(id),
    onError: () => {},
  });
  const request = await accept(SENTENCE, true);
  queues.offerPlanning(request);
  // Earlier than the first sweep.
  await expect.poll(() => heard, { timeout: 20_000 }).toEqual([request.planId]);
  expect(await statusOf(request._id)).toBe("EXECUTING");
  await Promise.all([executor.close(), queues.close()]);
});

test("a model plans over HTTP, and its call is recorded under the request", async () => {
  model.enqueue(answer(ANSWER, { usage: { inputTokens: 100, outputTokens: 20 } }));
  const request = await accept("Anything for Work and Hello that only a model understands");
  await start(withModel());
  await expect.poll(() => statusOf(request._id)).toBe("READY");
  expect(await store.listModelCallHeadsOf(TENANT, [request._id])).toMatchObject([
    { purpose: "draft", model: "openai:test", inputTokens: 100, outputTokens: 20, error: null },
  ]);
});

test("a sentence outlives a model that answers 500, its planner, and a model that is not there at all", async () => {
  model.script(() => ({ type: "error", status: 500 }));
  const request = await accept("Anything for Work and Hello that only a model understands");
  const env = { ...withModel(), MAX_REQUESTS: "1", DEAD_AFTER_MS: "3000" };
  const first = await startProcess(env);
  const waitOf = async () => (await store.getRequest(TENANT, request._id))?.planning.wait;
  await expect.poll(async () => (await waitOf())?.tries, { timeout: 20_000 }).toBe(2);
  const wait = await waitOf();
  expect(wait?.error).toMatchObject({
    code: "MODEL_UNREACHABLE",
    message: expect.stringMatching(/HTTP 500/),
  });
  // The only place of the planner is free meanwhile.
  model.script(({ body }) =>
    JSON.stringify(body).includes("Anything") ? { type: "error", status: 500 } : answer(ANSWER),
  );
  const other = await accept(SENTENCE);
  await expect.poll(() => statusOf(other._id), { timeout: 20_000 }).toBe("READY");
  expect(await statusOf(request._id)).toBe("PLANNING");

  await first.end("SIGKILL");
  await model.close();
  await start(env);
  await expect.poll(async () => (await waitOf())?.error.message, { timeout: 20_000 }).toMatch(/ECONNREFUSED/);
  expect(await waitOf()).toMatchObject({ since: wait?.since, until: wait?.until });
  const port = Number(new URL(model.openAiUrl).port);
  model = await startModelServer({ port, script: () => answer(ANSWER) });
  await expect.poll(() => statusOf(request._id), { timeout: 40_000 }).toBe("READY");
  const calls = await store.listModelCallHeadsOf(TENANT, [request._id]);
  expect(calls.at(-1)).toMatchObject({ error: null });
  expect(calls.slice(0, -1).every(({ error }) => error?.code === "MODEL_UNREACHABLE")).toBe(true);
  expect(await waitOf()).toBeNull();
});

const REFUSALS: {
  status: number;
  retryAfterSeconds?: number;
  MODEL_UNREACHABLE_MS?: string;
  tries: number;
  end: string;
}[] = [
  { status: 429, retryAfterSeconds: 6, tries: 1, end: "READY" },
  { status: 429, retryAfterSeconds: 3_600, tries: 0, end: "FAILED" },
  { status: 401, tries: 0, end: "FAILED" },
  { status: 404, tries: 0, end: "FAILED" },
  { status: 500, MODEL_UNREACHABLE_MS: "500", tries: 1, end: "FAILED" },
];
/** One that is waited for, one that is not, and one that lasts too long. */
const REFUSALS_IN_TEST = ["429 READY", "401 FAILED", "500 FAILED"];

for (const { cases, options } of testAndProof(
  REFUSALS,
  ({ status, end }) => `${status} ${end}`,
  REFUSALS_IN_TEST,
))
  test.each(cases)(
    "HTTP $status (Retry-After $retryAfterSeconds, at most $MODEL_UNREACHABLE_MS ms): $tries waits, then $end",
    options,
    async ({ status, retryAfterSeconds, tries, end, ...env }) => {
      const at: number[] = [];
      model.script(() => {
        at.push(performance.now());
        return end === "READY" && at.length > 1
          ? answer(ANSWER)
          : { type: "error", status, ...(retryAfterSeconds && { retryAfterSeconds }) };
      });
      const request = await accept(SENTENCE);
      await start({ ...withModel(), ...env });
      await expect.poll(() => statusOf(request._id), { timeout: 40_000 }).toBe(end);
      const events = (await store.listEventPages(TENANT, [request._id], { first: 100 })).get(request._id);
      expect(events?.items.filter(({ event }) => event.type === "planning.postponed")).toHaveLength(tries);
      if (end === "READY") expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(5_990);
    },
  );

test("a planner that is killed during the model call is replaced, and there is one plan", async () => {
  let asked = 0;
  model.script(() => (asked++ === 0 ? { type: "hang" } : answer(ANSWER)));
  const request = await accept(SENTENCE);
  const first = await startProcess({ ...withModel(), DEAD_AFTER_MS: "3000" });
  await expect.poll(() => asked).toBe(1);
  await first.end("SIGKILL");
  await start(withModel());
  await expect.poll(() => statusOf(request._id)).toBe("READY");
  const plans = await store.listPlanHeadsOf(TENANT, [request._id]);
  expect(plans.map((plan) => plan._id)).toEqual([request.planId]);
  expect(asked).toBe(2);
});

test("two planners plan a request once", async () => {
  model.script(() => answer(ANSWER));
  // A planner that a busy machine suspends must not be declared dead: then its question would be asked again,
  // correctly.
  const env = { ...withModel(), DEAD_AFTER_MS: "600000" };
  await Promise.all([startProcess(env), start(env)]);
  const requests = await Promise.all(Array.from({ length: 20 }, () => accept(SENTENCE)));
  await expect
    .poll(async () => (await Promise.all(requests.map(({ _id }) => statusOf(_id)))).join())
    .toBe(requests.map(() => "READY").join());
  expect(model.requests).toHaveLength(20);
});

test("a planner is not declared dead while it sends heartbeats, however slow its model is", async () => {
  model.enqueue(answer(ANSWER, { firstTokenMs: 13_000 }));
  const request = await accept(SENTENCE);
  const env = { ...withModel(), DEAD_AFTER_MS: "6000" };
  await Promise.all([startProcess(env), start(env)]);
  await expect.poll(() => statusOf(request._id)).toBe("READY");
  expect(model.requests).toHaveLength(1);
});

test("after SIGTERM planning is finished, and the process exits with code 0", async () => {
  model.enqueue(answer(ANSWER, { firstTokenMs: 500 }));
  const request = await accept(SENTENCE);
  const planner = await startProcess(withModel());
  await expect.poll(() => model.requests.length).toBe(1);
  expect(await planner.end("SIGTERM")).toBe(0);
  expect(await statusOf(request._id)).toBe("READY");
});

test("a request that cannot be planned ends FAILED with a code and a remedy", async () => {
  const request = await accept("Make me happy");
  await start();
  await expect.poll(() => statusOf(request._id)).toBe("FAILED");
  expect((await store.getRequest(TENANT, request._id))?.error).toMatchObject({
    code: "NOT_UNDERSTOOD",
    message: expect.stringContaining("Set MODEL"),
  });
});

test("a planner reports that it is ready", async () => {
  const planner = await startProcess();
  expect((await fetch(`${planner.health}/readyz`)).status).toBe(200);
});

test.each([
  { name: "no databases", env: {}, says: ["MONGODB_URL", "REDIS_URL"] },
  { name: "a model without its key", env: { MODEL: "openai:gpt-4o" }, says: ["OPENAI_API_KEY"] },
])("with $name it does not start, and names what is missing", async ({ env, says }) => {
  const known = says.includes("MONGODB_URL") ? {} : basics();
  const child = spawnPlanner({ ...known, ...env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      output += data.toString();
    });
  }
  await once(child, "close");
  expect(child.exitCode).not.toBe(0);
  for (const name of says) expect(output).toContain(name);
});
