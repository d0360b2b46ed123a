import type { PlanStatus, StepStatus, WaitReason } from "@planwright/plan";
import type { Lease, RequestDocument } from "@planwright/store";
import { describe, expect, test } from "vitest";
import { planWaitReason, requestWaitReason, stepWaitReason } from "./wait-reason.ts";

const held: Lease = { owner: "stopping", epoch: 1 };
const expired: Lease = { owner: "dead", epoch: 1 };

/** One that is stopping takes no more work, and ends what it holds. */
const owners = new Set(["stopping"]);
const ALONE = { planner: 0, executor: 0, owners };
/** Workers live; that none of them holds the work is then no sign that there is none. */
const ATTENDED = { planner: 1, executor: 2, owners };

interface Case {
  plan: PlanStatus;
  lease?: Lease | null;
  planReason?: WaitReason;
  step: StepStatus;
  stepReason?: WaitReason;
  open?: boolean;
  reason: WaitReason | null;
}

describe("stepWaitReason", () => {
  test.each<Case>([
    { plan: "RUNNING", step: "PENDING", open: true, reason: "dependency" },
    { plan: "RUNNING", step: "PENDING", stepReason: "dependency", reason: "limit" },
    { plan: "RUNNING", step: "PENDING", stepReason: "limit", reason: "limit" },
    { plan: "RUNNING", step: "RUNNING", reason: null },
    { plan: "RUNNING", step: "RETRYING", reason: "backoff" },
    { plan: "RUNNING", step: "WAITING_APPROVAL", reason: "approval" },
    { plan: "RUNNING", step: "IN_DOUBT", reason: "in doubt" },
    { plan: "RUNNING", step: "COMPLETED", reason: null },
    { plan: "RUNNING", step: "SKIPPED", open: true, reason: null },
    { plan: "RUNNING", lease: expired, step: "RUNNING", reason: "no worker" },
    { plan: "RUNNING", lease: null, step: "PENDING", reason: "no worker" },
    { plan: "WAITING", lease: null, planReason: "backoff", step: "PENDING", reason: "backoff" },
    {
      plan: "WAITING",
      lease: null,
      planReason: "backoff",
      step: "PENDING",
      open: true,
      reason: "dependency",
    },
    { plan: "QUEUED", lease: null, step: "PENDING", open: true, reason: "no worker" },
    { plan: "READY", lease: null, step: "PENDING", reason: "paused" },
    { plan: "PAUSED", lease: null, step: "PENDING", reason: "paused" },
    { plan: "FAILED", lease: null, step: "PENDING", open: true, reason: null },
    { plan: "CANCELLED", lease: null, step: "PENDING", reason: null },
  ])(
    "a $step step of a $plan plan (recorded: $stepReason, open dependency: $open) waits for $reason",
    (given) => {
      const plan = {
        status: given.plan,
        lease: given.lease === undefined ? held : given.lease,
        waitReason: given.planReason ?? null,
      };
      const step = { status: given.step, waitReason: given.stepReason ?? null };
      const hasOpenDependency = given.open ?? false;
      expect(stepWaitReason(step, plan, ALONE, hasOpenDependency)).toBe(given.reason);
      const withWorkers = given.reason === "no worker" ? "limit" : given.reason;
      expect(stepWaitReason(step, plan, ATTENDED, hasOpenDependency)).toBe(withWorkers);
    },
  );
});

test.each<[PlanStatus, Lease | null, WaitReason | null, WaitReason | null]>([
  ["QUEUED", null, null, "no worker"],
  ["RUNNING", held, null, null],
  ["RUNNING", expired, null, "no worker"],
  ["WAITING", null, "backoff", "backoff"],
  ["PAUSED", null, null, "paused"],
  ["COMPLETED", null, null, null],
])("a %s plan waits for the reason that fits", (status, lease, waitReason, expected) => {
  expect(planWaitReason({ status, lease, waitReason }, ALONE)).toBe(expected);
  const withWorkers = expected === "no worker" ? "limit" : expected;
  expect(planWaitReason({ status, lease, waitReason }, ATTENDED)).toBe(withWorkers);
});

test.each<[RequestDocument["status"], Lease | null, WaitReason | null]>([
  ["PLANNING", null, "no worker"],
  ["PLANNING", expired, "no worker"],
  ["PLANNING", held, null],
  ["READY", null, null],
])(
  "a request in %s waits for a worker only while none plans it, and for none only where none is known to live",
  (status, lease, expected) => {
    expect(requestWaitReason({ status, lease }, ALONE)).toBe(expected);
    const withWorkers = expected === "no worker" ? "limit" : expected;
    expect(requestWaitReason({ status, lease }, ATTENDED)).toBe(withWorkers);
  },
);
