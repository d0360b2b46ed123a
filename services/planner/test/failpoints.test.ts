/**
 * The planner dies, stands still for longer than its lease, or fails, at every place where a write, a call or an
 * acknowledgement begins or ends. Whatever happens there, the request gets exactly one plan.
 */
import { answer } from "@planwright/testing";
import { test } from "vitest";
import { openCrashBench, PAUSE_MS, SLOW_MODEL_MS } from "./crashing-planner.ts";
import { ANSWER, SENTENCE } from "./tools.ts";

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
    ["kill", `pause:${PAUSE_MS}`, "error"].map((action) => ({
      place,
      setting: `${place}.${side}=${action}`,
      action,
    })),
  ),
);

test.concurrent.for(CASES)(
  "$setting leaves the request with one plan",
  { timeout: 120_000 },
  async ({ place, setting, action }, { expect, onTestFinished }) => {
    const isHopeless = place === "planner.fail";
    // Slower than a renewal, so that the lease is renewed while the model thinks.
    const firstTokenMs = place === "planner.renew" ? SLOW_MODEL_MS : 100;
    const reply = isHopeless ? answer("I cannot do that.") : answer(ANSWER, { firstTokenMs });
    const { store, start, crash } = await openCrashBench(reply, onTestFinished);
    const { _id: requestId } = await store.createRequest({
      tenant: TENANT,
      query: SENTENCE,
      autoExecute: true,
    });

    // Only what rules do is recorded at once.
    const env = place === "planner.record" ? { MODEL: "offline" } : {};
    await crash(setting, env);
    // Whoever only failed goes on itself.
    if (action !== "error") start(env);

    const isOver = async () => (await store.getRequest(TENANT, requestId))?.status !== "PLANNING";
    await expect.poll(isOver, { timeout: 60_000, interval: 50 }).toBe(true);
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
