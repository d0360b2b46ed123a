import { PlanSchema, pinTools, type ToolDescriptor } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import { StoreUnavailableError } from "@planwright/store";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { expect, onTestFinished, test } from "vitest";
import { createPlanRuns } from "./plan-runs.ts";

const TENANT = "t1";
const DEAD_AFTER_MS = 5_000;
const TOOL = { name: "write", server: "test", trusted: true };

/** Plan runs over a store in memory. A claim is answered when the test calls its function in `answers`. */
async function slowClaims(
  catalogues: {
    pinned?: ToolDescriptor;
    known?: ToolDescriptor[] | Error;
    now?: ToolDescriptor[];
    serversTried?: Promise<void>;
    /** An executor had the plan, and a client has cancelled it, before that one died. */
    isCancelled?: boolean;
  } = {},
) {
  const logged: string[] = [];
  const nowMs = 1_000_000;
  const database = createMemoryDatabase(() => nowMs);
  const memoryStore = createMemoryStore({ database, owner: "e1", monotonic: () => nowMs });
  const plan = PlanSchema.parse({ steps: [{ id: "a", tool: TOOL.name, arguments: {} }] });
  const toolPins = catalogues.pinned && pinTools(plan, [catalogues.pinned]);
  const input = { tenant: TENANT, query: null, plan, toolPins, raw: "", diagnostics: [], autoExecute: true };
  const { plan: accepted } = await memoryStore.submitPlan(input);
  if (catalogues.isCancelled) {
    const dead = createMemoryStore({ database, owner: "e0", monotonic: () => nowMs });
    await dead.claimPlan(accepted._id, "e0");
    await memoryStore.requestCancel(TENANT, accepted._id, "user");
    await memoryStore.takeFromDead({ declaresSilent: false });
  }
  const answers: (() => void)[] = [];
  const controls = { reads: 0, isAway: false };
  const called: string[] = [];
  const runs = createPlanRuns({
    leases: memoryStore.planLeases,
    store: {
      ...memoryStore,
      publishTools: async () => undefined,
      keepOnlyServers: async () => undefined,
      learnOutputs: async () => undefined,
      addToolCalls: async () => undefined,
      publishServer: async () => undefined,
      async applyControls(claims) {
        controls.reads += 1;
        if (controls.isAway) throw new StoreUnavailableError({ operation: "applyControls" });
        return await memoryStore.applyControls(claims);
      },
      async claimPlan(...claim) {
        const claimed = await memoryStore.claimPlan(...claim);
        await new Promise<void>((resolve) => answers.push(resolve));
        return claimed;
      },
    },
    tools: {
      async callTool({ tool }) {
        called.push(tool);
        return { type: "completed", output: null };
      },
    },
    async readCatalogue() {
      if (catalogues.known instanceof Error) throw catalogues.known;
      return catalogues.known ?? [TOOL];
    },
    readCatalogueNow: async () => catalogues.now ?? [TOOL],
    serversTried: catalogues.serversTried,
    liveness: {
      owner: () => "e1",
      validUntil: () => Number.POSITIVE_INFINITY,
      nextAnswer: async () => undefined,
    },
    maxPlans: 4,
    deadAfterMs: DEAD_AFTER_MS,
    logger: createLogger({ service: "test", destination: { write: (line) => void logged.push(line) } }),
  });
  onTestFinished(() => runs.handOver(1_000));
  return {
    runs,
    planId: accepted._id,
    answers,
    called,
    controls,
    logged,
    requestId: accepted.requestId,
    takeFromDead: () => memoryStore.takeFromDead({ declaresSilent: false }),
    plan: () => memoryStore.getPlan(TENANT, accepted._id),
    cancel: () => memoryStore.requestCancel(TENANT, accepted._id, "user"),
  };
}

test("controls that cannot be read are logged once, until they were read again", async () => {
  const { controls, logged } = await slowClaims();
  const readTwice = async (isAway: boolean) => {
    const { reads } = controls;
    controls.isAway = isAway;
    await expect.poll(() => controls.reads, { timeout: 10_000 }).toBeGreaterThanOrEqual(reads + 2);
  };
  const lines = () => logged.filter((line) => line.includes("could not read the controls")).length;
  await readTwice(true);
  await readTwice(true);
  expect(lines()).toBe(1);
  await readTwice(false);
  await readTwice(true);
  expect(lines()).toBe(2);
});

test("a plan whose claim is not answered yet is not claimed again, even when it was made due", async () => {
  const { runs, planId, answers, takeFromDead, plan } = await slowClaims();
  const first = runs.take(planId);
  await expect.poll(() => answers.length).toBe(1);
  await takeFromDead();
  expect(await runs.take(planId)).toBeNull();
  expect(runs.capacity()).toBe(3);
  expect(await plan()).toMatchObject({ epoch: 1 });
  for (const answer of answers) answer();
  await (await first)?.done;
});

test("a plan whose claim is in progress when its executor stops is released, and none of its tools is called", async () => {
  const { runs, planId, answers, called, plan } = await slowClaims();
  const taken = runs.take(planId);
  await expect.poll(() => answers.length).toBe(1);
  const handedOver = runs.handOver(5_000);
  for (const answer of answers) answer();
  await handedOver;
  expect(await taken).toBeNull();
  expect(await plan()).toMatchObject({ status: "QUEUED", lease: null });
  expect(called).toEqual([]);
});

test("an unknown tool is looked up again before its plan begins", async () => {
  const { runs, planId, answers, called, plan } = await slowClaims({ known: [], now: [TOOL] });
  const taken = runs.take(planId);
  await expect.poll(() => answers.length).toBe(1);
  for (const answer of answers) answer();
  await (await taken)?.done;
  expect(called).toEqual([TOOL.name]);
  expect(await plan()).toMatchObject({ status: "COMPLETED" });
});

/** A plan that is claimed while the server of its tool still connects for the first time. */
async function claimedTooEarly() {
  let beTried = (): void => undefined;
  const serversTried = new Promise<void>((resolve) => {
    beTried = resolve;
  });
  const catalogues = { known: [], now: [] as ToolDescriptor[], serversTried };
  const system = await slowClaims(catalogues);
  let isBegun = false;
  const taken = system.runs.take(system.planId, () => void (isBegun = true));
  await expect.poll(() => system.answers.length).toBe(1);
  for (const answer of system.answers) answer();
  await expect.poll(() => system.logged.join("")).toContain("waiting for servers that still connect");
  return { ...system, taken, catalogues, beTried, isBegun: () => isBegun };
}

test.each([
  ["runs when the server has listed it", [TOOL], { status: "COMPLETED" }, [TOOL.name]],
  [
    "fails when no server has listed it",
    [],
    { status: "FAILED", error: { message: expect.stringContaining("not known") } },
    [],
  ],
])(
  "a plan with a tool of a server that connects for the first time waits, and %s",
  async (_, listed, ended, calls) => {
    const { taken, catalogues, beTried, called, plan } = await claimedTooEarly();
    expect(await plan()).toMatchObject({ status: "RUNNING" });
    catalogues.now = listed;
    beTried();
    await (await taken)?.done;
    expect(called).toEqual(calls);
    expect(await plan()).toMatchObject(ended);
  },
);

test("other plans may begin while one waits for a tool server", async () => {
  const { isBegun } = await claimedTooEarly();
  expect(isBegun()).toBe(true);
});

test("a plan that waits for a tool server is cancelled at once", async () => {
  const { taken, cancel, plan } = await claimedTooEarly();
  await cancel();
  await (await taken)?.done;
  expect(await plan()).toMatchObject({ status: "CANCELLED" });
});

test("a plan that was cancelled before its executor died does not wait for a tool server", async () => {
  const never = new Promise<void>(() => undefined);
  const { runs, planId, answers, plan } = await slowClaims({
    known: [],
    now: [],
    serversTried: never,
    isCancelled: true,
  });
  const taken = runs.take(planId);
  await expect.poll(() => answers.length).toBe(1);
  for (const answer of answers) answer();
  await (await taken)?.done;
  expect(await plan()).toMatchObject({ status: "CANCELLED" });
});

test("a plan that waits for a tool server is released when its executor stops", async () => {
  const { taken, runs, plan } = await claimedTooEarly();
  await runs.handOver(5_000);
  expect(await taken).toBeNull();
  expect(await plan()).toMatchObject({ status: "QUEUED", lease: null });
});

const CHANGED = { ...TOOL, annotations: { idempotentHint: true } };
test.each([
  [
    "runs when the cached tool differs from the pin, but the current one does not",
    [TOOL],
    [CHANGED],
    "COMPLETED",
    1,
  ],
  ["does not run when the current tool differs from the pin", [TOOL], [TOOL], "FAILED", 0],
])("a step whose tool was pinned %s", async (_, known, now, status, calls) => {
  const { runs, planId, answers, called, plan } = await slowClaims({ pinned: CHANGED, known, now });
  const taken = runs.take(planId);
  await expect.poll(() => answers.length).toBe(1);
  for (const answer of answers) answer();
  await (await taken)?.done;
  expect(called).toHaveLength(calls);
  expect(await plan()).toMatchObject({ status });
});

test("a plan that was claimed and could not be started is logged with its request", async () => {
  const { runs, planId, requestId, answers, called, logged } = await slowClaims({
    known: new TypeError("away"),
  });
  const taken = runs.take(planId);
  await expect.poll(() => answers.length).toBe(1);
  for (const answer of answers) answer();
  expect(await taken).toBeNull();
  const [line = "{}"] = logged.filter((one) => one.includes("plan not begun"));
  expect(JSON.parse(line)).toMatchObject({ requestId, planId, epoch: 1, err: { message: "away" } });
  expect(called).toEqual([]);
});
