import { expect, test } from "vitest";
import type { ModelLimits, ModelSpending } from "../records/model-call-document.ts";
import { exceededLimit, modelUseOf, NO_SPENDING, NO_USE } from "./model-calls.ts";

const amount = (modelCalls: number, tokens: number, costUsd: number): ModelSpending => ({
  modelCalls,
  tokens,
  costUsd,
});
const LIMITS: ModelLimits = { maxModelCalls: 2, maxTokens: 100, maxCostUsd: 0.3 };

test("a call that reaches a limit exactly is allowed; spent and reserved amounts are added", () => {
  const use = { spent: amount(1, 40, 0.1), reserved: NO_SPENDING };
  expect(exceededLimit(LIMITS, use, amount(1, 60, 0.2))).toBeNull();
  expect(exceededLimit(LIMITS, { ...use, reserved: amount(0, 1, 0) }, amount(1, 60, 0.2))).toEqual({
    limit: "maxTokens",
    max: 100,
    used: 41,
    needed: 60,
  });
});

test("without limits, and under a limit of null, everything is allowed", () => {
  const huge = amount(1e6, 1e9, 1e6);
  expect(exceededLimit(undefined, NO_USE, huge)).toBeNull();
  expect(exceededLimit({ maxModelCalls: null, maxTokens: null, maxCostUsd: null }, NO_USE, huge)).toBeNull();
});

test("amounts that are not exact in binary are added exactly", () => {
  const tenth = amount(1, 1, 0.1);
  const calls = new Map(["a", "b", "c"].map((id) => [id, tenth]));
  const use = modelUseOf({ spent: NO_SPENDING, calls });
  expect(use).toEqual({ spent: NO_SPENDING, reserved: amount(3, 3, 0.3) });
  expect(exceededLimit({ ...LIMITS, maxModelCalls: null }, use, NO_SPENDING)).toBeNull();
});
