import type { Outcome } from "@planwright/engine";
import { PlanSchema } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import { createMemoryDatabase, createMemoryStore } from "@planwright/store/memory";
import { expect, test } from "vitest";
import { createPlanTools } from "../../../../services/executor/src/run/plan-tools.ts";
import { startPlanRun } from "../../../../services/executor/src/run/start-plan-run.ts";
import { createRandom } from "../random/random.ts";
import { CATALOGUE, SETTLE_MS, TENANT } from "./world/catalogue.ts";
import { createProcess, createTimeline, EPOCH_MS } from "./world/processes.ts";

const DEAD_AFTER_MS = 5_000;

/**
 * A plan whose only call was running when its executor died. The next executor asks the lookup tool about the
 * call, twice.
 */
async function takeOver() {
  const timeline = createTimeline();
  const process = createProcess("next", { timeline, random: createRandom(1), wallOffsetMs: 0 });
  const database = createMemoryDatabase(() => EPOCH_MS + timeline.now());
  const storeOf = (owner: string) =>
    createMemoryStore({ database, owner, monotonic: () => process.clock.now() });
  const step = { id: "a", tool: "looked_up", arguments: { unit: "p/a" } };
  const plan = PlanSchema.parse({ steps: [step] });
  const input = { tenant: TENANT, query: null, plan, raw: "", diagnostics: [], autoExecute: true };
  const { plan: accepted } = await storeOf("api").submitPlan(input);
  const dead = storeOf("dead");
  const first = await dead.claimPlan(accepted._id, "dead");
  const call = {
    key: "a",
    stepId: "a",
    attempt: 1,
    effectClass: "V" as const,
    mayAct: true,
    timeoutMs: 1_000,
  };
  const intent = {
    call: { ...call, tool: step.tool, arguments: step.arguments },
    attemptId: "1",
    argsHash: "",
  };
  await dead.writeIntents(first!, [intent]);

  const called: [tool: string, at: number][] = [];
  const notFound: Outcome = { type: "completed", output: { found: false } };
  timeline.at(DEAD_AFTER_MS, () => undefined);
  await timeline.run(() => false);
  const store = {
    ...storeOf("next"),
    publishTools: async () => undefined,
    keepOnlyServers: async () => undefined,
    learnOutputs: async () => undefined,
    addToolCalls: async () => undefined,
    publishServer: async () => undefined,
  };
  await store.takeFromDead({ declaresSilent: false });
  const claim = await store.claimPlan(accepted._id, "next");
  let isDead = false;
  let answeredAt = process.clock.now();
  const waiting: (() => void)[] = [];
  process.clock.every(1_000, () => {
    // A worker without heartbeats for this time is declared dead.
    isDead ||= process.clock.now() - answeredAt > DEAD_AFTER_MS;
    answeredAt = process.clock.now();
    for (const resolve of waiting.splice(0)) resolve();
  });
  startPlanRun({
    claim: claim!,
    planTools: createPlanTools(claim!, CATALOGUE),
    readCatalogueNow: async () => CATALOGUE,
    store,
    tools: {
      async callTool({ tool, beforeSend }) {
        const offered = CATALOGUE.find(({ name }) => name === tool);
        const clearance = offered && (await beforeSend?.(offered));
        if (clearance?.type !== "send") return clearance ?? { type: "aborted" };
        called.push([tool, timeline.now()]);
        return notFound;
      },
    },
    liveness: {
      owner: () => (isDead ? "next.2" : "next"),
      validUntil: () => answeredAt + DEAD_AFTER_MS,
      nextAnswer: () => new Promise((resolve) => waiting.push(resolve)),
    },
    logger: createLogger({ service: "test", level: "silent" }),
    clock: process.clock,
  });
  return { timeline, process, called };
}

test("an executor asks a lookup tool again when the call can no longer arrive, and then makes the call", async () => {
  const { timeline, called } = await takeOver();
  await timeline.run(() => called.length === 3);
  const askedAgainAt = DEAD_AFTER_MS + SETTLE_MS;
  expect(called).toEqual([
    ["lookup", DEAD_AFTER_MS],
    ["lookup", askedAgainAt],
    ["looked_up", askedAgainAt],
  ]);
});

test("an executor that was frozen until it was declared dead calls no tool", async () => {
  const { timeline, process, called } = await takeOver();
  process.freeze(timeline.now() + 2 * DEAD_AFTER_MS);
  const end = timeline.now() + 4 * DEAD_AFTER_MS + SETTLE_MS;
  await timeline.run(() => timeline.now() >= end);
  expect(called).toEqual([["lookup", DEAD_AFTER_MS]]);
});
