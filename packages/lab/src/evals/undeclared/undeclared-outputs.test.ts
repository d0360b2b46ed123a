import { observeOutput } from "@planwright/plan";
import { beforeAll, describe, expect, test } from "vitest";
import { deedsOf } from "../cases/world.ts";
import { lossesSince } from "../figures/baseline.ts";
import { playUndeclared, RUNS } from "./play-undeclared.ts";
import { summariseUndeclared, type UndeclaredSummary, undeclaredBaseline } from "./summarise-undeclared.ts";
import { afterRuns, type Learner, undeclaredCases } from "./undeclared-cases.ts";

const CASES = undeclaredCases();
/** Enough of them to see a figure move. */
const SOME = CASES.filter((_, index) => index % 4 === 0);
const summaryOf = async (learn?: Learner, runs?: readonly number[]) =>
  summariseUndeclared(await playUndeclared(SOME, learn, runs));
const right = (summaries: readonly UndeclaredSummary[]) => summaries.map(({ figures }) => figures.rightEnds);

test("at least 40 requests need fields of outputs, over tools of which none declares any", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(40);
  expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
  const shown = CASES.flatMap(({ tools }) => afterRuns(tools, 3, observeOutput));
  expect(shown.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
});

test("the wanted plans find all that they refer to", async () => {
  for (const { id, tools, wanted, worlds } of CASES) {
    const shown = afterRuns(tools, 0, observeOutput);
    const deeds = await Promise.all(worlds.map((answers) => deedsOf(wanted, shown, answers)));
    expect({ id, ends: deeds.map(({ status }) => status) }).toEqual({
      id,
      ends: deeds.map(() => "COMPLETED"),
    });
  }
});

test("fields that are not there each time are seen with more runs", () => {
  const fields = RUNS.map((runs) => {
    const shapes = CASES.flatMap(({ tools }) => afterRuns(tools, runs, observeOutput));
    return new Set(
      shapes.flatMap(({ name, observedOutput }) =>
        Object.keys(observedOutput?.fields ?? {}).map((field) => `${name}.${field}`),
      ),
    ).size;
  });
  expect(fields).toEqual(fields.toSorted((a, b) => a - b));
  expect(new Set(fields).size).toBe(RUNS.length);
});

describe("what was learned", () => {
  let learned: UndeclaredSummary[];
  beforeAll(async () => {
    learned = await summaryOf();
  });

  test("lets more plans come to the right end with each number of runs", () => {
    const figures = right(learned);
    expect(figures).toEqual(figures.toSorted((a, b) => a - b));
    expect(figures.at(0)).toBeLessThan(30);
    expect(figures.at(-1)).toBeGreaterThan(90);
  });

  test.each<[string, Learner]>([
    ["forgets names", () => ({ types: { object: 1 } })],
    ["keeps the last output alone", (_, output) => observeOutput(undefined, output)],
    ["gets the names wrong", (known, output) => observeOutput(known, renamed(output))],
  ])("by a learner that %s is less, and a loss since the baseline", async (_, learn) => {
    const last = learned.slice(-1);
    const broken = await summaryOf(learn, RUNS.slice(-1));
    expect(lossesSince(undeclaredBaseline(last), undeclaredBaseline(broken))).toContainEqual(
      expect.stringContaining("rightEnds"),
    );
  });
});

/** The output as if its tool had given its fields other names. */
function renamed(output: Parameters<Learner>[1]): Parameters<Learner>[1] {
  return JSON.parse(JSON.stringify(output).replace(/"(\w+)":/g, '"x_$1":'));
}
