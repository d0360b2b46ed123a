/**
 * A planner that dies between the reservation and the settlement of a call leaves the reservation, so limits
 * hold over crashes. A recorded answer costs nothing when it is used again.
 */
import type { ModelLimits } from "@planwright/store";
import { answer } from "@planwright/testing";
import { test } from "vitest";
import { openCrashBench } from "./crashing-planner.ts";
import { ANSWER, SENTENCE } from "./tools.ts";

const TENANT = "default";
const limits = (maxModelCalls: number): ModelLimits => ({ maxModelCalls, maxTokens: null, maxCostUsd: null });

test.concurrent.for([
  { setting: "planner.reserve.after=kill", maxModelCalls: 1, asked: 0, status: "FAILED" },
  { setting: "planner.settle.before=kill", maxModelCalls: 1, asked: 1, status: "FAILED" },
  { setting: "planner.settle.after=kill", maxModelCalls: 1, asked: 1, status: "READY" },
  { setting: "planner.settle.before=kill", maxModelCalls: 2, asked: 2, status: "READY" },
])(
  "$setting with $maxModelCalls allowed calls: the model is asked $asked times, the request ends $status",
  async ({ setting, maxModelCalls, asked, status }, { expect, onTestFinished }) => {
    const { store, model, start, crash } = await openCrashBench(() => answer(ANSWER), onTestFinished);
    const modelLimits = limits(maxModelCalls);
    const request = { tenant: TENANT, query: SENTENCE, autoExecute: false, modelLimits };
    const { _id: requestId } = await store.createRequest(request);

    await crash(setting);
    await start();

    const hasEnded = async () => (await store.getRequest(TENANT, requestId))?.status !== "PLANNING";
    await expect.poll(hasEnded).toBe(true);
    const ended = await store.getRequest(TENANT, requestId);
    expect(ended?.status).toBe(status);
    expect(ended?.error?.code).toBe(status === "FAILED" ? "BUDGET_EXCEEDED" : undefined);
    expect(model.requests).toHaveLength(asked);
  },
);
