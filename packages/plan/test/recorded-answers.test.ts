import { type DiagnosticCode, readModelAnswer, type Step } from "@planwright/plan";
import { expect, test } from "vitest";
import { TOOLS } from "./answers/base-plans.ts";
import recorded from "./data/model-answers.json" with { type: "json" };

/** An answer as a model of that family writes them. */
interface RecordedAnswer {
  family: string;
  title: string;
  query: string;
  /** Lines. */
  answer: string[];
  finishReason?: string;
  /** What it becomes, or the errors that refuse it. */
  steps?: Step[];
  errors?: DiagnosticCode[];
  warnings?: DiagnosticCode[];
  repaired?: true;
}
const answers = recorded as RecordedAnswer[];

test.each(answers)("$family: $title", ({ query, answer, finishReason, steps, errors = [], ...rest }) => {
  const read = readModelAnswer(answer.join("\n"), { tools: TOOLS, query, finishReason });
  const codesOf = (wanted: string) =>
    read.diagnostics.filter(({ severity }) => severity === wanted).map(({ code }) => code);
  expect(codesOf("error")).toEqual(errors);
  expect([...new Set(codesOf("warning"))]).toEqual(rest.warnings ?? []);
  expect(read.ok && read.plan.steps).toEqual(steps ?? false);
  expect(read.ok && read.repaired).toBe(rest.repaired ?? false);
});

test("there are at least 40, of at least 15 families", () => {
  expect(answers.length).toBeGreaterThanOrEqual(40);
  const families = new Set(answers.map(({ family }) => family.replace(/-.*/, "")));
  expect(families.size).toBeGreaterThanOrEqual(15);
});
