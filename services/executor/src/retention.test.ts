import { createLogger } from "@planwright/runtime";
import { expect, onTestFinished, test } from "vitest";
import { type RetentionParts, startRetention } from "./start-executor.ts";

const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;

function retention(counts: (number | Error)[], more: Partial<RetentionParts> = {}) {
  const removals: { endedBefore: Date; limit: number }[] = [];
  let removed = 0;
  const running = startRetention({
    store: {
      async removeEnded(which) {
        removals.push(which);
        const count = counts.shift() ?? 0;
        if (count instanceof Error) throw count;
        return count;
      },
    },
    keptDays: 30,
    now: () => NOW,
    logger: createLogger({ service: "test", level: "fatal" }),
    onRemoved: (count) => {
      removed += count;
    },
    firstMs: 1,
    everyMs: 60_000,
    ...more,
  });
  onTestFinished(() => running.stop());
  return { removals, running, removed: () => removed };
}

test("old requests are removed until there are no more", async () => {
  const { removals, removed } = retention([100, 100, 7]);
  await expect.poll(removed).toBe(207);
  expect(removals).toEqual(
    Array.from({ length: 3 }, () => ({ endedBefore: new Date(NOW - 30 * DAY_MS), limit: 100 })),
  );
});

test("a round that fails is followed by the next one", async () => {
  const { removed } = retention([new TypeError("MongoDB is away"), 3], { everyMs: 1 });
  await expect.poll(removed).toBe(3);
});

test("nothing is removed when requests are kept forever, and nothing after the stop", async () => {
  const never = retention([5], { keptDays: "never" });
  await never.running.stop();
  expect(never.removals).toEqual([]);
  const stopped = retention([100, 100], { firstMs: 60_000 });
  await stopped.running.stop();
  expect(stopped.removals).toEqual([]);
});
