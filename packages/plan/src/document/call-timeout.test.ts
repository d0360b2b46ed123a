import { expect, test } from "vitest";
import { callTimeout } from "./policy.ts";

test.each([
  ["the policy's, when the step has none", {}, { timeoutMs: 60_000 }],
  ["the step's, below the policy's", { stepMs: 500 }, { timeoutMs: 500 }],
  ["the step's, above the policy's", { stepMs: 300_000 }, { timeoutMs: 300_000 }],
  ["the maximum's, above that", { stepMs: 900_000 }, { timeoutMs: 600_000, cutBy: "maximum" }],
  [
    "the policy's, when it is above the maximum",
    { stepMs: 3_000_000, policyMs: 2_000_000 },
    { timeoutMs: 2_000_000, cutBy: "maximum" },
  ],
  ["the contract's, below the policy's", { contractMs: 200 }, { timeoutMs: 200 }],
  [
    "the contract's, below the step's",
    { stepMs: 500, contractMs: 200 },
    { timeoutMs: 200, cutBy: "contract" },
  ],
  ["the step's, below the contract's", { stepMs: 100, contractMs: 200 }, { timeoutMs: 100 }],
])("the timeout of a call is %s", (_, facts, expected) => {
  const all = { stepMs: undefined, policyMs: 60_000, contractMs: undefined, maxStepMs: 600_000 };
  expect(callTimeout({ ...all, ...facts })).toEqual(expected);
});
