import { expect, test } from "vitest";
import { MAX_FACTS_BYTES, parseContext } from "./parse-options.ts";

test("absent and null fields are left out", () => {
  expect(parseContext(undefined)).toBeUndefined();
  expect(parseContext(null)).toBeUndefined();
  expect(parseContext({ now: null, timezone: null, locale: null, facts: null })).toBeUndefined();
  expect(parseContext({ timezone: "Europe/Berlin" })).toEqual({ timezone: "Europe/Berlin" });
});

test("all fields are kept; a locale is put into its usual spelling", () => {
  const now = new Date("2026-11-25T08:00:00Z");
  const facts = { userId: "u_17", defaults: { list: ["a", 1, true, null] } };
  expect(parseContext({ now, timezone: "UTC", locale: "DE-de", facts })).toEqual({
    now,
    timezone: "UTC",
    locale: "de-DE",
    facts,
  });
});

test("facts may have at most 16 KiB", () => {
  const of = (bytes: number) => ({ facts: { a: "x".repeat(bytes - '{"a":""}'.length) } });
  expect(parseContext(of(MAX_FACTS_BYTES))).toEqual(of(MAX_FACTS_BYTES));
  expect(() => parseContext(of(MAX_FACTS_BYTES + 1))).toThrow(/16385 bytes/);
});
