import { expect, test } from "vitest";
import { createAxis, GAP_WIDTH, idleGaps } from "./bars.ts";

const HOUR = 3_600_000;
const axisOf = (busy: { from: number; to: number }[], whole: { from: number; to: number }) =>
  createAxis(busy, whole, { width: 1_000, origin: whole.from });

test("times without a long pause are drawn in proportion, and are read back from their positions", () => {
  const axis = axisOf([{ from: 0, to: 10_000 }], { from: 0, to: 10_000 });
  expect(axis.gaps).toEqual([]);
  expect([axis.x(0), axis.x(2_500), axis.x(10_000)]).toEqual([0, 250, 1_000]);
  expect(axis.timeAt(250)).toBe(2_500);
  expect([axis.x(-5), axis.x(99_999)]).toEqual([0, 1_000]);
});

test("an idle night has a fixed width", () => {
  const busy = [
    { from: 0, to: 1_000 },
    { from: 8 * HOUR, to: 8 * HOUR + 1_000 },
  ];
  const axis = axisOf(busy, { from: 0, to: 8 * HOUR + 1_000 });
  expect(axis.gaps).toMatchObject([{ from: 1_000, to: 8 * HOUR }]);
  expect(axis.x(8 * HOUR) - axis.x(1_000)).toBe(GAP_WIDTH);
  expect(axis.x(1_000)).toBe((1_000 - GAP_WIDTH) / 2);
});

test.each([
  [
    "no gap between spans that overlap",
    [
      { from: 0, to: 60_000 },
      { from: 10, to: 20 },
      { from: 59_000, to: 90_000 },
    ],
    [],
  ],
  [
    "gaps before the first and after the last span",
    [{ from: 50_000, to: 51_000 }],
    [
      { from: 0, to: 50_000 },
      { from: 51_000, to: 90_000 },
    ],
  ],
  [
    "spans outside do not count",
    [
      { from: -10, to: 45_000 },
      { from: 95_000, to: 99_000 },
    ],
    [{ from: 45_000, to: 90_000 }],
  ],
  [
    "a short pause is not a gap",
    [
      { from: 0, to: 40_000 },
      { from: 50_000, to: 90_000 },
    ],
    [],
  ],
])("%s", (_what, busy, gaps) => {
  expect(idleGaps(busy, { from: 0, to: 90_000 })).toEqual(gaps);
});

test("ticks are at round distances from the origin, and not inside gaps", () => {
  const busy = [
    { from: 0, to: 10_000 },
    { from: HOUR, to: HOUR + 10_000 },
  ];
  const axis = axisOf(busy, { from: 0, to: HOUR + 10_000 });
  expect(axis.ticks.length).toBeGreaterThan(4);
  expect(axis.ticks.every((at) => at % 1_000 === 0)).toBe(true);
  expect(axis.ticks.filter((at) => at > 10_000 && at < HOUR)).toEqual([]);
});

test("a span of length 0 has an axis too", () => {
  expect(axisOf([], { from: 5, to: 5 }).x(5)).toBe(0);
});
