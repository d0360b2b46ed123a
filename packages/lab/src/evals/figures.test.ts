import { parsePlan } from "@planwright/plan";
import { expect, test } from "vitest";
import type { Ending } from "./cases/eval-case.ts";
import { summarise, summariseAll } from "./figures.ts";
import { grade } from "./grade.ts";
import type { GradedCase } from "./play-cases.ts";

function plan(...tools: string[]): Ending {
  const read = parsePlan({ steps: tools.map((tool, at) => ({ id: `s${at}`, tool, arguments: {} })) });
  if (!read.ok) expect.unreachable();
  return { type: "plan", plan: read.plan };
}
const refusal = (code: string): Ending => ({ type: "refusal", code });
const questions = (...missing: string[]): Ending => ({ type: "questions", missing });

function graded(
  wanted: Ending,
  ending: Ending,
  rest: { repairs?: number; domain?: string } = {},
): GradedCase {
  const { repairs = 0, domain = "shop" } = rest;
  const played = { ending, repairs, calls: repairs + 1, doubts: 0, inputTokens: 100, outputTokens: 10 };
  return { id: "x", source: "model", domain, wanted, played, grade: grade(wanted, ending, true) };
}

test("all steps have the same weight in F1, whichever plan they are in", () => {
  const { figures } = summarise([
    graded(plan("a", "b", "c"), plan("a", "b", "c")),
    graded(plan("d"), plan("e")),
  ]);
  expect(figures).toMatchObject({ nodeF1: 75, exactPlans: 50 });
});

test("a plan after a repair is not valid the first time", () => {
  const { figures, calls, repairs } = summarise([
    graded(plan("a"), plan("a"), { repairs: 2 }),
    graded(plan("a"), plan("b")),
    graded(plan("a"), refusal("PLAN_INVALID")),
  ]);
  expect(figures.firstTimeValid).toBe(33.33);
  expect({ calls, repairs }).toEqual({ calls: 5, repairs: 2 });
});

test("an unwanted plan lowers the figures of tools and of refusals", () => {
  const { figures, wanted } = summarise([
    graded(plan("a"), plan("a")),
    graded(refusal("NOT_PLANNABLE"), plan("a")),
    graded(refusal("NOT_PLANNABLE"), refusal("NOT_PLANNABLE")),
  ]);
  expect(wanted).toEqual({ plans: 1, refusals: 2, questions: 0 });
  expect(figures).toMatchObject({ nodeF1: 66.67, refusals: 50, questions: 100 });
});

test("a refusal with a wrong code and a question about a wrong value are wrong", () => {
  const { figures } = summarise([
    graded(refusal("NOT_PLANNABLE"), refusal("PLAN_INVALID")),
    graded(questions("a.b"), questions("a.c")),
    graded(questions("a.b"), questions("a.b")),
  ]);
  expect(figures).toMatchObject({ refusals: 0, questions: 50 });
});

test("a live model may ask and refuse in its own words, but not fail", () => {
  const asked = questions("a.b");
  expect(grade(asked, refusal("NOT_PLANNABLE"), false).isRight).toBe(true);
  expect(grade(asked, refusal("MODEL_UNREACHABLE"), false).isRight).toBe(false);
  expect(grade(asked, plan("a"), false).isRight).toBe(false);
});

test("there is a summary of all cases, of each source and of each domain", () => {
  const cases = [graded(plan("a"), plan("a")), graded(plan("a"), plan("b"), { domain: "blog" })];
  const summaries = summariseAll(cases);
  expect([...summaries].map(([group, each]) => [group, each.cases])).toEqual([
    ["all", 2],
    ["model", 2],
    ["model/shop", 1],
    ["model/blog", 1],
  ]);
});
