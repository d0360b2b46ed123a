import { type Condition, evaluateCondition, parsePlan } from "@planwright/plan";
import { expect, test } from "vitest";
import conditions from "./data/conditions.json" with { type: "json" };

const outputs = {
  a: {
    n: 5,
    t: "open",
    l: [1, "x", { k: 1 }],
    o: { k: 1 },
    nil: null,
    e: "",
    el: [],
    eo: {},
    z: 0,
    f: false,
  },
};
const statuses = new Map([
  ["a", "COMPLETED"],
  ["b", "FAILED"],
]);

interface ConditionCase {
  title: string;
  condition: unknown;
  policy?: object;
  expected?: boolean;
  error?: string;
}

test.each(conditions as ConditionCase[])(
  "evaluateCondition: $title",
  ({ condition, policy, expected, error }) => {
    // The table contains invalid conditions.
    const run = () =>
      evaluateCondition(condition as Condition, { outputs, statuses, ...(policy && { policy }) });
    if (error === undefined) expect(run()).toBe(expected);
    else expect(run).toThrow(expect.objectContaining({ code: error }));
  },
);

test("evaluateCondition refuses endless nesting with a typed error", () => {
  let condition: unknown = { eq: [1, 1] };
  for (let depth = 0; depth < 100_000; depth++) condition = { not: condition };
  expect(() => evaluateCondition(condition as Condition, { outputs })).toThrow(
    expect.objectContaining({ code: "CONDITION_INVALID" }),
  );
});

test("a condition's references and statuses order steps", () => {
  const parsed = parsePlan([
    { id: "late", tool: "t", when: { status: ["early", "FAILED"] } },
    { id: "early", tool: "u" },
  ]);
  expect(parsed.ok).toBe(true);
});
