import { expect, test } from "vitest";
import { exitCodeOf, heavyTargets, targetsOf } from "./api.ts";
import type { Attacked } from "./api-heavy.ts";

const received = { missed: 0, p95Ms: 99.9 };

test.each([
  ["every event was received in time", { webSockets: received }, [true, true], 0],
  ["every event was received, but late", { webSockets: { ...received, p95Ms: 100 } }, [true, false], 0],
  [
    "server-sent events missed one event",
    { serverSentEvents: { ...received, missed: 1 }, webSockets: received },
    [false, true, true, true],
    1,
  ],
  ["no client followed", {}, [], 0],
])("when %s", (_, followed, met, exitCode) => {
  const targets = targetsOf(followed);
  expect(targets.map(({ isMet }) => isMet)).toEqual(met);
  expect(exitCodeOf(targets)).toBe(exitCode);
});

const withstood: Attacked = {
  alone: { count: 100, p50Ms: 1, p95Ms: 2, p99Ms: 10, maxMs: 20 },
  attacked: { count: 100, p50Ms: 1, p95Ms: 2, p99Ms: 49.9, maxMs: 60 },
  pollsFailed: 0,
  answers: { 200: 1, 503: 100 },
  largestAnswerBytes: 1,
  rssPeakMib: 599,
  died: false,
};

test.each([
  ["the process survived", {}, [true, true, true, true], 0],
  ["the process ended", { died: true }, [false, true, true, true], 1],
  ["a poll was not answered", { pollsFailed: 1 }, [true, false, true, true], 1],
  ["the process took too much memory", { rssPeakMib: 600 }, [true, true, false, true], 1],
  ["the memory of the process is not known", { rssPeakMib: 0 }, [true, true, false, true], 1],
  [
    "polls took five times as long",
    { attacked: { ...withstood.attacked, p99Ms: 50 } },
    [true, true, true, false],
    0,
  ],
])("under attack, when %s", (_, seen, met, exitCode) => {
  const targets = heavyTargets({ ...withstood, ...seen });
  expect(targets.map(({ isMet }) => isMet)).toEqual(met);
  expect(exitCodeOf(targets)).toBe(exitCode);
});
