import { expect, test } from "vitest";
import { type WaitContext, type WaitingStep, waitsOf } from "./bars.ts";

const at = (second: number) => new Date(second * 1_000).toISOString();
const attempt = (from: number, to: number | null) => ({
  startedAt: at(from),
  endedAt: to === null ? null : at(to),
});
const STEP: WaitingStep = {
  dependsOn: ["before"],
  status: "PENDING",
  waitReason: null,
  approved: false,
  approvalHash: null,
  carriedFrom: null,
  settled: null,
  attempts: [],
};
const contextOf = (beforeEnded: number | null): WaitContext => ({
  begin: at(0),
  isEnded: false,
  byId: new Map([["before", { finishedAt: beforeEnded === null ? null : at(beforeEnded) }]]),
  now: 20_000,
});

test.each<[string, Partial<WaitingStep>, number | null, object[]]>([
  [
    "for its dependencies, then for its turn",
    { status: "COMPLETED", attempts: [attempt(8, 9)] },
    5,
    [
      { from: 0, to: 5_000, reason: "dependency" },
      { from: 5_000, to: 8_000, reason: "its turn" },
    ],
  ],
  [
    "for an approval until now",
    { status: "WAITING_APPROVAL", approvalHash: "abc", dependsOn: [] },
    null,
    [{ from: 0, to: 20_000, reason: "approval" }],
  ],
  [
    "for a dependency that runs",
    { waitReason: "dependency" },
    null,
    [{ from: 0, to: 20_000, reason: "dependency" }],
  ],
  [
    "for the reason that the API names",
    { waitReason: "no worker" },
    4,
    [
      { from: 0, to: 4_000, reason: "dependency" },
      { from: 4_000, to: 20_000, reason: "no worker" },
    ],
  ],
  [
    "for a decision on its doubt",
    { status: "IN_DOUBT", dependsOn: [], attempts: [attempt(0, 3)] },
    null,
    [{ from: 3_000, to: 20_000, reason: "in doubt" }],
  ],
  [
    "no longer once the doubt is settled",
    {
      status: "COMPLETED",
      dependsOn: [],
      attempts: [attempt(0, 3)],
      settled: { resolution: "completed", by: "ann", at: at(7) },
    },
    null,
    [{ from: 3_000, to: 7_000, reason: "in doubt" }],
  ],
  ["not at all when it was skipped", { status: "SKIPPED" }, 5, []],
  ["not at all when another version ran it", { status: "COMPLETED", carriedFrom: "plan_1_a" }, 5, []],
])("a step waits %s", (_what, step, beforeEnded, waits) => {
  expect(waitsOf({ ...STEP, ...step }, contextOf(beforeEnded))).toEqual(waits);
});
