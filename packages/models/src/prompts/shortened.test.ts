import { expect, test } from "vitest";
import { shortened } from "./clean-text.ts";

test("a small value is not changed", () => {
  const value = { id: "a1", tags: ["x", null], nested: { n: 1, ok: true } };
  expect(shortened(value, 1_000)).toEqual(value);
});

test("long lists and texts are cut, with a mark that says by how much", () => {
  expect(shortened({ items: Array.from({ length: 100 }, (_, index) => index) }, 200)).toEqual({
    items: [...Array(20).keys(), "… 80 more"],
  });
  expect(JSON.stringify(shortened("x".repeat(50_000), 400)).length).toBeLessThanOrEqual(400);
});

test.each([
  ["a wide object", Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, "v"]))],
  [
    "a deep value",
    Array.from({ length: 50 }).reduce<object>((inner) => ({ inner, text: "y".repeat(500) }), {}),
  ],
  ["a long list of long texts", Array.from({ length: 300 }, () => "z".repeat(2_000))],
])("%s fits", (_name, value) => {
  for (const max of [100, 1_000, 10_000]) {
    const short = JSON.stringify(shortened(JSON.parse(JSON.stringify(value)), max));
    expect(short.length).toBeLessThanOrEqual(max);
  }
});

test("control and invisible characters are removed from names and values", () => {
  expect(shortened({ "a\u200b": "b\u0000\u202ec" }, 100)).toEqual({ a: "bc" });
});
