import { expect, test } from "vitest";
import { exitCodeOf, targetsOf } from "./targets.ts";

const heard = { missed: 0, p95Ms: 99.9 };

test.each([
  ["all was heard in time", { webSockets: heard }, [true, true], 0],
  ["all was heard too late", { webSockets: { ...heard, p95Ms: 100 } }, [true, false], 0],
  [
    "one event of one way was missed",
    { serverSentEvents: { ...heard, missed: 1 }, webSockets: heard },
    [false, true, true, true],
    1,
  ],
  ["nobody followed", {}, [], 0],
])("when %s", (_, followed, met, exitCode) => {
  const targets = targetsOf(followed);
  expect(targets.map(({ isMet }) => isMet)).toEqual(met);
  expect(exitCodeOf(targets)).toBe(exitCode);
});
