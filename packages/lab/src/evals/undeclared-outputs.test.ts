import { observeOutput } from "@planwright/plan";
import { testAndProof } from "@planwright/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { effectsOf } from "./cases/eval-case.ts";
import { lossesSince } from "./figures.ts";
import {
  playUndeclared,
  RUNS,
  summariseUndeclared,
  type UndeclaredSummary,
  undeclaredBaseline,
} from "./play-undeclared.ts";
import { afterRuns, type Learner, undeclaredCases } from "./undeclared-cases.ts";

const CASES = undeclaredCases();
/** An eighth of the cases is enough to see a figure change. */
const SOME = CASES.filter((_, index) => index % 8 === 0);
const summaryOf = async (learn?: Learner, runs?: readonly number[]) =>
  summariseUndeclared(await playUndeclared(SOME, learn, runs));
const right = (summaries: readonly UndeclaredSummary[]) => summaries.map(({ figures }) => figures.rightEnds);

test("at least 40 requests need fields of outputs, with tools that declare none", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(40);
  expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
  const shown = CASES.flatMap(({ tools }) => afterRuns(tools, 3, observeOutput));
  expect(shown.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
});

for (const { cases, options } of [
  { cases: SOME, options: {} },
  { cases: CASES, options: { tags: ["proof"] } },
]) {
  test(`all references of the wanted plans find a value (${cases.length} cases)`, options, async () => {
    for (const { id, tools, wanted, worlds } of cases) {
      const shown = afterRuns(tools, 0, observeOutput);
      const effects = await Promise.all(worlds.map((answers) => effectsOf(wanted, shown, answers)));
      expect({ id, ends: effects.map(({ status }) => status) }).toEqual({
        id,
        ends: effects.map(() => "COMPLETED"),
      });
    }
  });

  test(`more runs show more of the optional fields (${cases.length} cases)`, options, () => {
    const fields = RUNS.map((runs) => {
      const shapes = cases.flatMap(({ tools }) => afterRuns(tools, runs, observeOutput));
      return new Set(
        shapes.flatMap(({ name, observedOutput }) =>
          Object.keys(observedOutput?.fields ?? {}).map((field) => `${name}.${field}`),
        ),
      ).size;
    });
    expect(fields).toEqual(fields.toSorted((a, b) => a - b));
    expect(new Set(fields).size).toBe(RUNS.length);
  });
}

describe("observed outputs", () => {
  let learned: UndeclaredSummary[];
  beforeAll(async () => {
    learned = await summaryOf();
  });

  test("give more right plans after more runs", () => {
    const figures = right(learned);
    expect(figures).toEqual(figures.toSorted((a, b) => a - b));
    expect(figures.at(0)).toBeLessThan(30);
    expect(figures.at(-1)).toBeGreaterThan(90);
  });

  const WORSE: [name: string, learn: Learner][] = [
    ["forgets names", () => ({ types: { object: 1 } })],
    ["keeps only the last output", (_, output) => observeOutput(undefined, output)],
    ["stores wrong names", (known, output) => observeOutput(known, renamed(output))],
  ];
  for (const { cases, options } of testAndProof(WORSE, ([name]) => name, ["stores wrong names"]))
    test.each(cases)(
      "are worse by a learner that %s, which is a loss since the baseline",
      options,
      async (_, learn) => {
        const last = learned.slice(-1);
        const broken = await summaryOf(learn, RUNS.slice(-1));
        expect(lossesSince(undeclaredBaseline(last), undeclaredBaseline(broken))).toContainEqual(
          expect.stringContaining("rightEnds"),
        );
      },
    );
});

/** The output with different names of its fields. */
function renamed(output: Parameters<Learner>[1]): Parameters<Learner>[1] {
  return JSON.parse(JSON.stringify(output).replace(/"(\w+)":/g, '"x_$1":'));
}
