import { expect, test } from "vitest";
import { moved, zoomed } from "./timeline.tsx";

const WHOLE = { from: 0, to: 1_000 };

test("zooming in halves the span around its middle, and zooming out shows the whole span", () => {
  const half = zoomed(WHOLE, WHOLE, 0.5);
  expect(half).toEqual({ from: 250, to: 750 });
  expect(zoomed(half ?? WHOLE, WHOLE, 2)).toBeNull();
});

test("a zoom moves as far as the ends of the whole span", () => {
  expect(moved({ from: 250, to: 750 }, WHOLE, 0.2)).toEqual({ from: 350, to: 850 });
  expect(moved({ from: 350, to: 850 }, WHOLE, 0.5)).toEqual({ from: 500, to: 1_000 });
  expect(moved({ from: 100, to: 300 }, WHOLE, -5)).toEqual({ from: 0, to: 200 });
});
