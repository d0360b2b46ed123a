import { expect, test } from "vitest";
import { type Baseline, type EvalFigures, lossesSince, summarise, toBaseline } from "./figures.ts";

const FULL: EvalFigures = {
  nodeF1: 100,
  edgeF1: 100,
  argumentF1: 100,
  exactPlans: 100,
  firstTimeValid: 100,
  refusals: 100,
  questions: 100,
};
const baselineOf = (figures: Partial<EvalFigures>, cases = 10): Baseline => ({
  all: { cases, figures: { ...FULL, ...figures } },
});

test("a figure that drops by two points is lost", () => {
  expect(lossesSince(baselineOf({ edgeF1: 90.1 }), baselineOf({ edgeF1: 88.1 }))).toEqual([
    "all: edgeF1 is 88.1, before 90.1",
  ]);
});

test("a figure that drops by less than two points, or rises, is not lost", () => {
  const now = baselineOf({ edgeF1: 88.11, nodeF1: 100 });
  expect(lossesSince(baselineOf({ edgeF1: 90.1, nodeF1: 50 }), now)).toEqual([]);
});

test("fewer cases are a loss", () => {
  expect(lossesSince(baselineOf({}), baselineOf({}, 9))).toEqual(["all: 9 cases, before 10"]);
  expect(lossesSince(baselineOf({}), {})).toEqual(["all: has no cases any more"]);
});

test("a group that is new since the baseline is no loss", () => {
  expect(lossesSince({}, baselineOf({ nodeF1: 0 }))).toEqual([]);
});

test("a figure that is not measured any more is lost", () => {
  const was = { runs: { cases: 9, figures: { right: 100, found: 1 } } };
  expect(lossesSince(was, { runs: { cases: 9, figures: { right: 100 } } })).toEqual([
    "runs: found is not measured any more",
  ]);
});

test("the baseline has one domain only: the one about the caller's time and place", () => {
  const nothing = summarise([]);
  expect(
    Object.keys(
      toBaseline(
        new Map([
          ["all", nothing],
          ["model", nothing],
          ["model/shop", nothing],
          ["model/now-and-here", nothing],
        ]),
      ),
    ),
  ).toEqual(["all", "model", "model/now-and-here"]);
});
