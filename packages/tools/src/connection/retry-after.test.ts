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
])("Retry-After %j asks for %j ms", (header, ms) => {
  expect(parseRetryAfter(header, NOW)).toBe(ms);
});
