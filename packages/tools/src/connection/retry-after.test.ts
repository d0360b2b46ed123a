import { expect, test } from "vitest";
import { parseRetryAfter } from "./http-fetch.ts";

const NOW = Date.parse("Wed, 21 Oct 2026 07:28:00 GMT");

test.each([
  [undefined, undefined],
  ["", undefined],
  ["soon", undefined],
  ["0", 0],
  ["120", 120_000],
  [" 7 ", 7_000],
  ["999999999", 3_600_000],
  ["Wed, 21 Oct 2026 07:28:30 GMT", 30_000],
  ["Wed, 21 Oct 2026 07:27:00 GMT", 0],
  ["1.5", 1_500],
  ["-5", undefined],
])("Retry-After %j asks for %j ms", (header, ms) => {
  expect(parseRetryAfter(header, NOW)).toBe(ms);
});

test.each([
  ["Wed, 21 Oct 2026 07:27:00 GMT", 90_000],
  ["not a date", 30_000],
  [undefined, 30_000],
])("a date in Retry-After counts from the Date %j of the same answer", (date, ms) => {
  expect(parseRetryAfter("Wed, 21 Oct 2026 07:28:30 GMT", NOW, date)).toBe(ms);
});
