import { parsePlan, printPlan } from "@planwright/plan";
import { expect, test } from "vitest";
import dialects from "./data/dialects.json" with { type: "json" };

interface DialectCase {
  title: string;
  input: unknown;
  steps: object[];
  outputs?: string[];
}

test.each(dialects as DialectCase[])("parsePlan reads $title", ({ input, steps, outputs }) => {
  const before = JSON.stringify(input);
  const parsed = parsePlan(input);
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.plan.steps).toEqual(steps);
  expect(parsed.plan.outputs).toEqual(outputs);
  expect(JSON.stringify(input)).toBe(before);
  const again = parsePlan(printPlan(parsed.plan));
  expect(again).toEqual({ ...parsed, diagnostics: again.diagnostics });
});
