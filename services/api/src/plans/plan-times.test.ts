import { createPlanId } from "@planwright/plan";
import { expect, test } from "vitest";
import { planTimes } from "./step-views.ts";

const at = (second: number) => new Date(second * 1_000);
const NOW_MS = at(100).getTime();
const FOLDED_MS = 30_000;

test.each<[string, Partial<Parameters<typeof planTimes>[0]>, number | null, number | null, folds: number]>([
  ["not started: none", { startedAt: null }, null, null, 0],
  ["running: until now, by its journal", {}, 60_000, 30_000, 1],
  ["claimed once and ended: it never waited", { finishedAt: at(60) }, 50_000, 0, 0],
  ["ended: by its document", { finishedAt: at(60), epoch: 3, waitedForPeopleMs: 20_000 }, 30_000, 20_000, 0],
  ["ended before that was recorded: by its journal", { finishedAt: at(60), epoch: 3 }, 20_000, 30_000, 1],
])("the times of a plan, %s", async (_, more, durationMs, waitedForPeopleMs, expectedFolds) => {
  let folds = 0;
  const plan = {
    _id: createPlanId(0, () => undefined),
    startedAt: at(10),
    finishedAt: null,
    epoch: 1,
    ...more,
  };
  const reads = {
    async waitedForPeopleMs() {
      folds += 1;
      return FOLDED_MS;
    },
  };
  expect(await planTimes(plan, reads, NOW_MS)).toEqual({ durationMs, waitedForPeopleMs });
  expect(folds).toBe(expectedFolds);
});
