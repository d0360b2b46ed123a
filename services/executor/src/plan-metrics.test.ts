import type { FoldedUnit, FoldedWait } from "@planwright/engine";
import { expect, test } from "vitest";
import { createPlanLog, createPlanMetrics, NO_METRICS } from "./metrics.ts";

const at = (second: number) => new Date(second * 1_000);
const wait = (reason: FoldedWait["reason"], from: number, until: number): FoldedWait => ({
  reason,
  from: at(from),
  until: at(until),
});

test.each<[string, FoldedWait[], plan: number, step: number]>([
  ["without a wait", [], 30_000, 20_000],
  ["with a wait for the next try", [wait("backoff", 12, 22)], 30_000, 20_000],
  ["with a pause", [wait("paused", 12, 27)], 15_000, 5_000],
  ["with an approval before the call", [wait("approval", 2, 9)], 23_000, 20_000],
])("the duration of a plan and of its step is their own time: %s", (_, waits, planMs, stepMs) => {
  const told: unknown[] = [];
  const unit = { startedAt: at(10), finishedAt: at(30) } as FoldedUnit;
  const journal = { unit: () => unit, plan: () => ({ waits, finishedAt: at(30) }) };
  const metrics = createPlanMetrics(
    {
      ...NO_METRICS,
      ended: ({ durationMs }) => void told.push(durationMs),
      stepEnded: ({ durationMs }) => void told.push(durationMs),
    },
    { plan: { queuedAt: at(0), plan: { steps: [] } }, journal } as never,
    { addressOf: () => ({ server: undefined }) } as never,
  );
  metrics.ended({ status: "COMPLETED" });
  metrics.recorded([{ key: "a", stepId: "a", status: "COMPLETED", attempts: 1 }]);
  expect(told).toEqual([planMs, stepMs]);
});

test("a step that is completed by the call of an earlier version is neither counted nor logged", () => {
  const told: unknown[] = [];
  const metrics = createPlanMetrics(
    { ...NO_METRICS, stepEnded: (end) => void told.push(end) },
    { plan: { queuedAt: at(0), plan: { steps: [] } }, journal: { unit: () => undefined } } as never,
    { addressOf: () => ({ server: undefined }) } as never,
  );
  const line = (facts: unknown) => void told.push(facts);
  const log = createPlanLog({ info: line, warn: line }, { steps: [] } as never);
  const carriedFrom = { planId: "plan_1700000000_aaaaaaaaaaaaaaaaaaaa", key: "pay" };
  const record = {
    key: "paid",
    stepId: "paid",
    status: "COMPLETED",
    attempts: 0,
    warnings: ["odd"],
  } as const;
  const records = [{ ...record, warnings: [...record.warnings], carriedFrom }];
  metrics.recorded(records);
  log.recorded(records);
  expect(told).toEqual([]);
});
