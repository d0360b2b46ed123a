import { expect, test } from "vitest";
import { parseModelLimits } from "./parse-options.ts";

const SERVICE = { maxModelCalls: 30, maxTokens: 500_000, maxCostUsd: null };

test("a request without limits has those of the service", () => {
  expect(parseModelLimits(undefined, SERVICE)).toEqual(SERVICE);
  expect(parseModelLimits({ maxTokens: null }, SERVICE)).toEqual(SERVICE);
  expect(parseModelLimits(null)).toEqual({ maxModelCalls: null, maxTokens: null, maxCostUsd: null });
});

test("a request may have lower limits, and limits that the service does not have", () => {
  expect(parseModelLimits({ maxModelCalls: 0, maxTokens: 500_000, maxCostUsd: 0.05 }, SERVICE)).toEqual({
    maxModelCalls: 0,
    maxTokens: 500_000,
    maxCostUsd: 0.05,
  });
});

test.each([
  { limits: { maxTokens: 500_001 }, says: "0 to 500000", remedy: "REQUEST_MAX_TOKENS" },
  { limits: { maxModelCalls: -1 }, says: "0 to 30", remedy: "REQUEST_MAX_MODEL_CALLS" },
  { limits: { maxCostUsd: -0.01 }, says: "0 or more", remedy: "no limit" },
  { limits: { maxCostUsd: Number.POSITIVE_INFINITY }, says: "0 or more", remedy: "REQUEST_MAX_COST_USD" },
])("$limits is refused with the accepted range", ({ limits, says, remedy }) => {
  expect(() => parseModelLimits(limits, SERVICE)).toThrow(
    expect.objectContaining({
      code: "BAD_USER_INPUT",
      message: expect.stringContaining(says),
      remedy: expect.stringContaining(remedy),
    }),
  );
});
