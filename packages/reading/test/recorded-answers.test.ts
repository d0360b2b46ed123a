import { readdirSync, readFileSync } from "node:fs";
import { type DiagnosticCode, type Step } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect, test } from "vitest";
import { TOOLS } from "./answers/base-plans.ts";
import { DESK_TOOLS } from "./answers/desk-tools.ts";
import recorded from "./data/model-answers.json" with { type: "json" };

/** A recorded answer of a model, and its expected result. */
interface RecordedAnswer {
  title: string;
  query: string;
  /** Lines. */
  answer: string[];
  finishReason?: string;
  /** The expected steps, or the expected errors. */
  steps?: Step[];
  errors?: DiagnosticCode[];
  warnings?: DiagnosticCode[];
  repaired?: true;
}

/** By model, and by habit: one file for each habit. */
const folder = new URL("data/answers/", import.meta.url);
const habits = readdirSync(folder).map((name) => {
  const answers = JSON.parse(readFileSync(new URL(name, folder), "utf8")) as RecordedAnswer[];
  return { habit: name.replace(/\.json$/, ""), answers };
});
const models = recorded as (RecordedAnswer & { family: string })[];

function expectReading({ query, answer, finishReason, steps, errors = [], ...rest }: RecordedAnswer): void {
  const tools = [...TOOLS, ...DESK_TOOLS];
  const read = readModelAnswer(answer.join("\n"), { tools, query, finishReason });
  const codesOf = (wanted: string) =>
    read.diagnostics.filter(({ severity }) => severity === wanted).map(({ code }) => code);
  expect(codesOf("error")).toEqual(errors);
  expect([...new Set(codesOf("warning"))].toSorted()).toEqual((rest.warnings ?? []).toSorted());
  expect(read.ok && read.plan.steps).toEqual(steps ?? false);
  expect(read.ok && read.repaired).toBe(rest.repaired ?? false);
}

test.each(models)("$family: $title", expectReading);

describe.each(habits)("$habit", ({ answers }) => {
  test.each(answers)("$title", expectReading);
});

test("there are at least 40 answers by model, of at least 15 models", () => {
  expect(models.length).toBeGreaterThanOrEqual(40);
  const families = new Set(models.map(({ family }) => family.replace(/-.*/, "")));
  expect(families.size).toBeGreaterThanOrEqual(15);
});

test("there are at least 300 different answers by habit, of at least 12 habits", () => {
  const texts = new Set(habits.flatMap(({ answers }) => answers.map(({ answer }) => answer.join("\n"))));
  expect(texts.size).toBeGreaterThanOrEqual(300);
  expect(habits.length).toBeGreaterThanOrEqual(12);
});
