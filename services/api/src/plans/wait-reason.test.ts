import type { PlanStatus, StepStatus, WaitReason } from "@planwright/plan";
import type { Lease, ModelWait, RequestDocument } from "@planwright/store";
import { describe, expect, test } from "vitest";
import {
  planWaitReason,
  requestWaitReason,
  shownDeadlineOf,
  shownExpiryOf,
  stepWaitReason,
} from "./step-views.ts";

const held: Lease = { owner: "stopping", epoch: 1 };
const expired: Lease = { owner: "dead", epoch: 1 };

/** A worker that is stopping takes no more work, and finishes its current work. */
const owners = new Set(["stopping"]);
const NO_WORKERS = { planner: 0, executor: 0, owners };
/** Workers are alive. Work that none of them holds then waits for a free slot. */
const WITH_WORKERS = { planner: 1, executor: 2, owners };

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
      expect(stepWaitReason(step, plan, NO_WORKERS, hasOpenDependency)).toBe(given.reason);
      const withWorkers = given.reason === "no worker" ? "limit" : given.reason;
      expect(stepWaitReason(step, plan, WITH_WORKERS, hasOpenDependency)).toBe(withWorkers);
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
])("a %s plan has the right wait reason", (status, lease, waitReason, expected) => {
  expect(planWaitReason({ status, lease, waitReason }, NO_WORKERS)).toBe(expected);
  const withWorkers = expected === "no worker" ? "limit" : expected;
  expect(planWaitReason({ status, lease, waitReason }, WITH_WORKERS)).toBe(withWorkers);
});

const WAIT: ModelWait = {
  error: { code: "MODEL_UNREACHABLE", message: "HTTP 500" },
  since: new Date(0),
  tries: 1,
  nextAttemptAt: new Date(1_000),
  until: new Date(600_000),
};

test.each<[RequestDocument["status"], Lease | null, ModelWait | null, WaitReason | null, WaitReason | null]>([
  ["PLANNING", null, null, "no worker", "limit"],
  ["PLANNING", expired, null, "no worker", "limit"],
  ["PLANNING", held, null, null, null],
  ["PLANNING", null, WAIT, "no worker", "backoff"],
  ["PLANNING", held, WAIT, null, null],
  ["READY", null, null, null, null],
  ["COMPLETED", null, WAIT, null, null],
])(
  "a request in %s waits only while no planner holds it: for a planner, or for a model that is away",
  (status, lease, wait, without, withWorkers) => {
    const request = { status, lease, planning: { wait } };
    expect(requestWaitReason(request, NO_WORKERS)).toBe(without);
    expect(requestWaitReason(request, WITH_WORKERS)).toBe(withWorkers);
  },
);

const EARLY = new Date(1_000);
const LATE = new Date(2_000);
type ShownPlan = Parameters<typeof shownExpiryOf>[0];
const control: NonNullable<ShownPlan["controls"]>[number] = {
  id: 1,
  event: { type: "resume.asked" },
  by: "ann",
  at: EARLY,
};

const PAUSED = { status: "PAUSED", waitReason: "paused" } as const;

test.each<[string, Partial<ShownPlan>, Date | null]>([
  ["an approval, at the first that expires", { waitReason: "approval", dueAt: EARLY }, EARLY],
  ["a doubt, never, also in a document with a limit of it", { waitReason: "in doubt", dueAt: LATE }, null],
  ["a pause, never, also in a document with a limit of it", { ...PAUSED, dueAt: LATE }, null],
  [
    "a pause, at an approval that is open meanwhile",
    { ...PAUSED, dueAt: EARLY, approvalUntil: EARLY },
    EARLY,
  ],
  ["an approval while other steps run", { status: "RUNNING", lease: held, approvalUntil: EARLY }, EARLY],
  [
    "an approval while another step waits",
    { waitReason: "backoff", dueAt: EARLY, approvalUntil: LATE },
    LATE,
  ],
  ["nothing, for its next try only", { waitReason: "backoff", dueAt: EARLY }, null],
  [
    "a decision that no executor has read",
    { waitReason: "approval", dueAt: EARLY, controls: [control] },
    null,
  ],
  ["nothing, after its end", { status: "FAILED", approvalUntil: EARLY }, null],
  ["an approval in a document of an earlier version", { status: "RUNNING", lease: held }, null],
])("the end of a plan's wait for a person: %s", (_, more, expected) => {
  const plan = { status: "WAITING", waitReason: null, lease: null, dueAt: null } as const;
  expect(shownExpiryOf({ ...plan, ...more })).toEqual(expected);
});

test.each<[string, Partial<Parameters<typeof shownDeadlineOf>[0]>, Date | null]>([
  ["while an executor works on it", { status: "RUNNING", lease: held }, LATE],
  ["while it waits for its next try", { waitReason: "backoff" }, LATE],
  ["but not while it waits for an approval", { waitReason: "approval" }, null],
  ["but not during a doubt", { waitReason: "in doubt" }, null],
  ["but not during a pause", PAUSED, null],
])("a plan shows its deadline %s", (_, more, expected) => {
  const plan = { status: "WAITING", waitReason: null, lease: null, deadlineAt: LATE } as const;
  expect(shownDeadlineOf({ ...plan, ...more })).toEqual(expected);
});
