/** A planner that dies between the reservation of a call and its settlement leaves what was reserved: limits hold over crashes. */
import { once } from "node:events";
import { createStore, type ModelLimits } from "@planwright/store";
import { answer, startModelServer, testServers } from "@planwright/testing";
import { test } from "vitest";
import { spawnPlanner } from "./planner-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

const TENANT = "default";
const limits = (maxModelCalls: number): ModelLimits => ({ maxModelCalls, maxTokens: null, maxCostUsd: null });

test.concurrent.for([
  { setting: "planner.reserve.after=kill", maxModelCalls: 1, asked: 0, status: "FAILED" },
  { setting: "planner.settle.before=kill", maxModelCalls: 1, asked: 1, status: "FAILED" },
  { setting: "planner.settle.after=kill", maxModelCalls: 1, asked: 1, status: "FAILED" },
  { setting: "planner.settle.before=kill", maxModelCalls: 2, asked: 2, status: "READY" },
])(
  "$setting with $maxModelCalls allowed calls: the model is asked $asked times, the request ends $status",
  { timeout: 120_000 },
  async ({ setting, maxModelCalls, asked, status }, { expect, onTestFinished }) => {
    const servers = testServers();
    const store = await createStore({ url: servers.mongodbUrl });
    onTestFinished(() => store.close());
    await store.publishTools(
      "notes",
      TOOLS.map((descriptor) => ({ descriptor, digest: "0".repeat(64) })),
    );
    const model = await startModelServer({ script: () => answer(ANSWER) });
    onTestFinished(() => model.close());
    const modelLimits = limits(maxModelCalls);
    const request = { tenant: TENANT, query: SENTENCE, autoExecute: false, modelLimits };
    const { _id: requestId } = await store.createRequest(request);

    const start = (env: Record<string, string>) => {
      const child = spawnPlanner({
        MONGODB_URL: servers.mongodbUrl,
        REDIS_URL: servers.redisUrl,
        QUEUE_PREFIX: servers.redisPrefix,
        PLANNING_LEASE_MS: "1000",
        SWEEP_EVERY_MS: "100",
        MODEL: "openai:test",
        OPENAI_BASE_URL: model.openAiUrl,
        ...env,
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      child.stdout?.resume();
      child.stderr?.resume();
      return child;
    };
    const victim = start({ FAILPOINT: setting });
    await once(victim, "exit");
    start({});

    const isOver = async () => (await store.getRequest(TENANT, requestId))?.status !== "PLANNING";
    await expect.poll(isOver, { timeout: 80_000, interval: 50 }).toBe(true);
    const ended = await store.getRequest(TENANT, requestId);
    expect(ended?.status).toBe(status);
    expect(ended?.error?.code).toBe(status === "FAILED" ? "BUDGET_EXCEEDED" : undefined);
    expect(model.requests).toHaveLength(asked);
  },
);
