/**
 * The planner dies, stands still for longer than its lease, or fails, at every place where a write, a call or an
 * acknowledgement begins or ends. Whatever happens there, the request gets exactly one plan.
 */
import { once } from "node:events";
import { createStore } from "@planwright/store";
import { answer, startModelServer, testServers } from "@planwright/testing";
import { test } from "vitest";
import { spawnPlanner } from "./planner-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

const TENANT = "default";
const PLACES = [
  "planner.sweep",
  "planner.claim",
  "planner.renew",
  "planner.model",
  "planner.record",
  "planner.reserve",
  "planner.settle",
  "planner.store",
  "planner.fail",
  "planner.offer",
];
const CASES = PLACES.flatMap((place) =>
  ["before", "after"].flatMap((side) =>
    ["kill", "pause:2000", "error"].map((action) => ({
      place,
      setting: `${place}.${side}=${action}`,
      action,
    })),
  ),
);

test.concurrent.for(CASES)(
  "$setting leaves the request with one plan",
  { timeout: 60_000 },
  async ({ place, setting, action }, { expect, onTestFinished }) => {
    const servers = testServers();
    const store = await createStore({ url: servers.mongodbUrl });
    onTestFinished(() => store.close());
    const tools = TOOLS.map((descriptor) => ({ descriptor, digest: "0".repeat(64) }));
    await store.publishTools("notes", tools);
    // Slower than a renewal, so that the lease is renewed while the model thinks.
    const isHopeless = place === "planner.fail";
    const reply = isHopeless ? answer("I cannot do that.") : answer(ANSWER, { firstTokenMs: 700 });
    const model = await startModelServer({ script: () => reply });
    onTestFinished(() => model.close());
    const { _id: requestId } = await store.createRequest({
      tenant: TENANT,
      query: SENTENCE,
      autoExecute: true,
    });

    const start = (env: Record<string, string>) => {
      const child = spawnPlanner({
        MONGODB_URL: servers.mongodbUrl,
        REDIS_URL: servers.redisUrl,
        QUEUE_PREFIX: servers.redisPrefix,
        PLANNING_LEASE_MS: "1000",
        SWEEP_EVERY_MS: "100",
        // Only what rules do is recorded at once.
        MODEL: place === "planner.record" ? "offline" : "openai:test",
        OPENAI_BASE_URL: model.openAiUrl,
        ...env,
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      child.stdout?.resume();
      return child;
    };
    const victim = start({ FAILPOINT: setting });
    let said = "";
    for await (const chunk of victim.stderr ?? []) {
      said += String(chunk);
      if (said.includes(`failpoint ${setting}`)) break;
    }
    expect(said).toContain(`failpoint ${setting}`);
    if (action === "kill" && victim.signalCode === null) await once(victim, "exit");
    if (action !== "error") start({});

    const isOver = async () => (await store.getRequest(TENANT, requestId))?.status !== "PLANNING";
    await expect.poll(isOver, { timeout: 40_000, interval: 50 }).toBe(true);
    const request = await store.getRequest(TENANT, requestId);
    const plans = await store.listPlans(TENANT, requestId);
    if (isHopeless) {
      expect(request).toMatchObject({ status: "FAILED", error: { code: expect.any(String) } });
      return;
    }
    expect(request).toMatchObject({ status: "EXECUTING" });
    expect(plans).toMatchObject([{ _id: request?.planId, status: "QUEUED", version: 1 }]);
    expect(
      await store.listSteps(
        TENANT,
        plans.map(({ _id }) => _id),
      ),
    ).toHaveLength(2);
  },
);
