import { expect, test } from "vitest";
import { parseByteRange } from "./serve-outputs.ts";

test.each([
  ["bytes=0-0", { start: 0, end: 1 }],
  ["bytes=2-", { start: 2, end: 10 }],
  ["BYTES=-3", { start: 7, end: 10 }],
  ["bytes=-30", { start: 0, end: 10 }],
  ["bytes=5-99", { start: 5, end: 10 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=-", "whole"],
  ["bytes=3-2", "whole"],
  ["bytes=0-1,4-5", "whole"],
  ["items=0-1", "whole"],
  [undefined, "whole"],
])("%s of 10 bytes is %j", (header, range) => {
  expect(parseByteRange(header, 10)).toEqual(range);
});
