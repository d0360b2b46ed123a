import { toStepRun } from "@planwright/engine";
import { PlanSchema } from "@planwright/plan";
import { newPlan, newRequest } from "@planwright/store";
import { expect, test } from "vitest";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { createRisingProgress } from "./facade-tools.ts";

/** A request at a version of its plan, with some completed steps. Without steps there is no plan yet. */
function stateOf(version: number, steps: number, done: number, running: number = 0): RequestSnapshot {
  const base = newRequest({
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    planId: `plan_170000000${version}_aaaaaaaaaaaaaaaaaaaa`,
    tenant: "default",
    source: "query",
    query: "x",
    autoExecute: true,
    now: new Date(0),
  });
  if (steps === 0) return { request: base, plan: null, steps: [] };
  const ids = Array.from({ length: steps }, (_, position) => `s${position}`);
  const plan = newPlan({
    request: base,
    plan: PlanSchema.parse({ steps: ids.map((id) => ({ id, tool: "t" })) }),
    raw: null,
    origin: { kind: "submitted", model: null },
    diagnostics: [],
    status: "QUEUED",
    now: new Date(0),
  });
  const units = ids.map((key, position) => {
    const unit = { key, position, item: null, unit: undefined };
    const isRunning = position >= done && position < done + running;
    return {
      ...toStepRun(
        { ...plan, planId: plan._id },
        { step: { id: key, tool: "t", hasCauses: false }, ...unit },
      ),
      status:
        position < done ? ("COMPLETED" as const) : isRunning ? ("RUNNING" as const) : ("PENDING" as const),
      finishedAt: position < done ? new Date(1) : null,
    };
  });
  const sizes = {
    approvals: [],
    resolutions: [],
    steps,
    stepTools: [],
    graphBytes: 0,
    textBytes: 0,
    resultBytes: 0,
  };
  return { request: base, plan: { ...plan, ...sizes }, steps: units };
}

test("progress rises with every notification, also between states with equal counts and over a replan", () => {
  const progress = createRisingProgress();
  const reported = [
    stateOf(1, 0, 0),
    stateOf(1, 3, 0),
    stateOf(1, 3, 0, 1),
    stateOf(1, 3, 0, 1),
    stateOf(1, 3, 1),
    stateOf(1, 3, 2),
    stateOf(2, 2, 0),
    stateOf(2, 2, 1),
    stateOf(2, 2, 2),
  ].map(progress);
  expect(reported.map((each) => each && [each.progress, each.total])).toEqual([
    [0, undefined],
    [0.5, 3],
    [0.75, 3],
    null,
    [1, 3],
    [2, 3],
    [2.5, 4],
    [3, 4],
    [4, 4],
  ]);
});
