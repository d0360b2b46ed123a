import { expect, test } from "vitest";
import { canonicalJson } from "./exact-json.ts";

test("canonical JSON has one text for equal values", () => {
  const value = { b: [1, { d: null, c: "é\u2028" }], a: { "10": 1, "9": 2 }, skipped: undefined };
  expect(canonicalJson(value)).toBe('{"a":{"10":1,"9":2},"b":[1,{"c":"é\u2028","d":null}]}');
  expect(canonicalJson(JSON.parse('{"__proto__":{"b":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"b":1}}');
});

test("canonical JSON writes a value with toJSON as JSON does", () => {
  const value = { now: new Date("2026-10-24T10:00:00Z"), list: [new Date(0)] };
  expect(canonicalJson(value)).toBe('{"list":["1970-01-01T00:00:00.000Z"],"now":"2026-10-24T10:00:00.000Z"}');
});
