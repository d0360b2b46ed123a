import { parsePlan } from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { expect, test } from "vitest";
import type { Ending } from "./cases/eval-case.ts";
import { HABITS, inHabit } from "./cases/language-cases.ts";
import { gradeEffects } from "./grade.ts";

const TOOLS = [
  { name: "find", annotations: { readOnlyHint: true } },
  { name: "close", inputSchema: { type: "object", properties: { id: { type: "integer" } } } },
];
const FIND = { id: "find", tool: "find" };
const CLOSE = { id: "close", tool: "close", arguments: { id: "<<item.id>>" }, forEach: "<<find.hits>>" };
const WHEN = { gt: ["<<find.total>>", 1] };
const WANTED = { steps: [FIND, { ...CLOSE, when: WHEN }], outputs: { n: "<<find.total>>" } };
const found = (hits: number[]) => ({ hits: hits.map((id) => ({ id })), total: hits.length });
const worlds = [[1, 2], [3]].map((hits) => ({ gives: { find: found(hits) }, byArgument: {}, calls: 0 }));

function ending(document: object): Ending & { type: "plan" } {
  const read = parsePlan(document, { tools: TOOLS });
  expect(read.diagnostics).toEqual([]);
  return { type: "plan", plan: read.ok ? read.plan : { steps: [] } };
}
const isRight = async (document: object) =>
  (await gradeEffects(ending(WANTED).plan, ending(document), { tools: TOOLS, worlds })).isRight;

test("a plan with the same effects is right, however it is written", async () => {
  const each = { items: "<<look.hits>>", as: "hit", do: { tool: "close", arguments: { id: "<<hit.id>>" } } };
  const other = {
    steps: [
      { id: "look", tool: "find" },
      { id: "z", forEach: each, when: { not: { lte: ["<<look.total>>", 1] } } },
    ],
    outputs: { count: "<<look.total>>" },
  };
  expect(await isRight(WANTED)).toBe(true);
  expect(await isRight(other)).toBe(true);
});

test.each([
  ["a missing condition", { ...WANTED, steps: [FIND, CLOSE] }],
  ["a negated condition", { ...WANTED, steps: [FIND, { ...CLOSE, when: { not: WHEN } }] }],
  [
    "only the first item",
    {
      ...WANTED,
      steps: [FIND, { id: "c", tool: "close", arguments: { id: "<<find.hits[0].id>>" }, when: WHEN }],
    },
  ],
  ["another output", { ...WANTED, outputs: { n: "<<find.hits>>" } }],
  ["all outputs", { steps: WANTED.steps }],
])("%s is wrong", async (_, document) => {
  expect(await isRight(document)).toBe(false);
});

test("without a plan, everything that was wanted is missed", async () => {
  const none: Ending = { type: "refusal", code: "PLAN_INVALID" };
  const { comparison, isRight: right } = await gradeEffects(ending(WANTED).plan, none, {
    tools: TOOLS,
    worlds,
  });
  expect(right).toBe(false);
  expect(comparison?.nodes).toEqual({ right: 0, wrong: 0, missed: 4 });
});

test("a plan in every habit is the same plan", () => {
  const answers = HABITS.map((habit) => readModelAnswer(inHabit(WANTED_ANSWER, habit), { tools: TOOLS }));
  for (const answer of answers)
    expect(answer.ok && stepsOf(answer.plan.steps)).toEqual(answers[0]?.ok && stepsOf(answers[0].plan.steps));
});

const WANTED_ANSWER = { steps: [FIND, { ...CLOSE, when: WHEN }] };
/** One of the habits gives the item a different name. */
const stepsOf = (steps: object[]): unknown =>
  JSON.parse(JSON.stringify(steps).replaceAll("<<entry", "<<item").replaceAll('"as":"entry"', '"as":"item"'));
