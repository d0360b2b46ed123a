import { expect, test } from "vitest";
import { type AcceptedPlan, byTarget, effectOf, type KillRun, killFiguresOf } from "./kill-figures.ts";

const plan = (name: string, state: AcceptedPlan["last"]["state"], more: Partial<AcceptedPlan> = {}) => ({
  name,
  acceptedAt: 0,
  last: { state, at: 1_000 },
  completed: [],
  inDoubt: [],
  ...more,
});
const effect = (name: string, step: string, at = 0) => ({ arguments: { value: effectOf(name, step) }, at });
const runOf = (run: Partial<KillRun>): KillRun => ({ plans: [], kills: [], ledger: [], ...run });

test("a plan that was in flight at two kills and completed is recovered from both; the times include later kills", () => {
  const run = runOf({
    plans: [plan("p", "completed", { completed: ["a"] })],
    kills: [
      { target: "mongod", at: 200, inFlight: ["p"] },
      { target: "redis", at: 900, inFlight: ["p"] },
      { target: "redis", at: 1_200, inFlight: [] },
    ],
    ledger: [effect("p", "a")],
  });
  expect(killFiguresOf(run)).toMatchObject({
    kills: 3,
    plans: 1,
    completed: 1,
    inFlight: 2,
    recovered: 2,
    recoverP50Ms: 100,
    recoverP99Ms: 800,
    lost: 0,
    doubled: 0,
  });
});

test("each effect of a step beyond its first is doubled, and belongs to the kill before it", () => {
  const run = runOf({
    plans: [plan("p", "completed", { completed: ["a", "b"] })],
    kills: [
      { target: "service", at: 200, inFlight: ["p"] },
      { target: "tools", at: 400, inFlight: ["p"] },
    ],
    ledger: [effect("p", "a", 100), effect("p", "b", 190), effect("p", "b", 300), effect("p", "b", 500)],
  });
  expect(killFiguresOf(run)).toMatchObject({ doubled: 2, lost: 0 });
  expect(byTarget(run)).toMatchObject({
    service: { kills: 1, doubled: 1, recoverP50Ms: 800 },
    tools: { kills: 1, doubled: 1, recoverP50Ms: 600 },
  });
});

test("lost are plans that the system does not know, plans that did not end, and completed steps without an effect", () => {
  const run = runOf({
    plans: [
      plan("unknown", "unknown"),
      plan("running", "running"),
      plan("empty", "completed", { completed: ["a", "b"] }),
    ],
    kills: [{ target: "mongod", at: 0, inFlight: ["unknown", "running", "empty"] }],
    ledger: [effect("empty", "a")],
  });
  expect(killFiguresOf(run)).toMatchObject({ lost: 3, inFlight: 3, recovered: 1, failed: 0 });
});

test("a plan in doubt waits for a person and is neither lost nor recovered; its steps may have acted or not", () => {
  const run = runOf({
    plans: [plan("p", "waits", { completed: ["a"], inDoubt: ["b", "c", "d"] })],
    kills: [{ target: "executor", at: 0, inFlight: ["p"] }],
    ledger: [effect("p", "a"), effect("p", "c")],
  });
  expect(killFiguresOf(run)).toMatchObject({
    waits: 1,
    inDoubtWithout: 2,
    inDoubtWith: 1,
    lost: 0,
    doubled: 0,
    inFlight: 1,
    recovered: 0,
  });
});

test("a plan that ended without completing is failed, and the effects that it had are not lost", () => {
  const run = runOf({ plans: [plan("p", "failed", { completed: ["a"] })], ledger: [effect("p", "a")] });
  expect(killFiguresOf(run)).toMatchObject({ failed: 1, completed: 0, lost: 0 });
});

test("the figures of some plans count only these", () => {
  const run = runOf({
    plans: [plan("k", "completed"), plan("u", "waits", { inDoubt: ["a"] })],
    kills: [{ target: "redis", at: 0, inFlight: ["k", "u"] }],
    ledger: [effect("k", "a"), effect("u", "a"), effect("u", "a")],
  });
  expect(killFiguresOf(run, (name) => name === "k")).toMatchObject({ plans: 1, inFlight: 1, doubled: 0 });
  expect(killFiguresOf(run, (name) => name === "u")).toMatchObject({ plans: 1, inFlight: 1, doubled: 1 });
});
