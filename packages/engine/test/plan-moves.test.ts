/** The journal's events can express every move in the lifecycle table of plans, and no other move. */
import {
  canMove,
  PLAN_LIFECYCLE,
  type PlanStatus,
  PlanStatusSchema,
  STARTED_PLAN_STATUSES,
} from "@planwright/plan";
import { expect, test } from "vitest";
import {
  emptyRequest,
  fold,
  type JournalEntry,
  JournalEntrySchema,
  JournalInvalidError,
} from "../src/index.ts";

const REQUEST = "req_1700000000_aaaaaaaaaaaaaaaaaaaa";
const PLAN = "plan_1700000000_aaaaaaaaaaaaaaaaaaaa";

/**
 * Short names of events. `take` is a worker's claim; a release and an end by a worker have the new status.
 */
type Action =
  | "store"
  | "store invalid"
  | "execute"
  | "take"
  | "cancel"
  | "pause"
  | "resume"
  | { release: PlanStatus }
  | { end: PlanStatus };

const RUNNING: Action[] = ["store", "execute", "take"];

/** The events that bring a plan to each status. */
const HISTORY: Readonly<Record<PlanStatus, Action[]>> = {
  INVALID: ["store invalid"],
  READY: ["store"],
  QUEUED: ["store", "execute"],
  RUNNING,
  WAITING: [...RUNNING, { release: "WAITING" }],
  PAUSED: [...RUNNING, "pause", { release: "PAUSED" }],
  CANCELLING: ["store", "execute", "cancel"],
  COMPLETED: [...RUNNING, { end: "COMPLETED" }],
  PARTIAL: [...RUNNING, { end: "PARTIAL" }],
  FAILED: [...RUNNING, { end: "FAILED" }],
  CANCELLED: ["store", { end: "CANCELLED" }],
  EXPIRED: [...RUNNING, { end: "EXPIRED" }],
  SUPERSEDED: ["store", { end: "SUPERSEDED" }],
};

/**
 * The ways to move a plan to a status: the last action of a way makes the move. A started plan is ended by a
 * worker that took it.
 */
const WAYS: Readonly<Record<PlanStatus, Action[][]>> = {
  INVALID: [],
  READY: [],
  QUEUED: [["execute"], ["resume"], [{ release: "QUEUED" }]],
  RUNNING: [["take"], ["take", "resume"]],
  WAITING: [[{ release: "WAITING" }]],
  PAUSED: [["pause"], ["pause", { release: "PAUSED" }]],
  CANCELLING: [["cancel"]],
  COMPLETED: [["take", { end: "COMPLETED" }]],
  PARTIAL: [["take", { end: "PARTIAL" }]],
  FAILED: [["take", { end: "FAILED" }]],
  CANCELLED: [["take", { end: "CANCELLED" }], [{ end: "CANCELLED" }]],
  EXPIRED: [["take", { end: "EXPIRED" }]],
  SUPERSEDED: [[{ end: "SUPERSEDED" }]],
};

const PAIRS = PlanStatusSchema.options.flatMap((from) =>
  PlanStatusSchema.options.filter((to) => to !== from).map((to) => [from, to] as const),
);

test.each(PlanStatusSchema.options)("a plan can become %s", (status) => {
  expect(statusAfter(HISTORY[status])).toBe(status);
});

test.each(PAIRS.filter(([from, to]) => canMove(PLAN_LIFECYCLE, from, to)))("%s moves to %s", (from, to) => {
  expect(waysBetween(from, to)).not.toEqual([]);
});

test.each(PAIRS.filter(([from, to]) => !canMove(PLAN_LIFECYCLE, from, to)))(
  "%s never moves to %s",
  (from, to) => {
    expect(waysBetween(from, to)).toEqual([]);
  },
);

/** The ways whose last action moves a plan from one status to the other. */
function waysBetween(from: PlanStatus, to: PlanStatus): Action[][] {
  return WAYS[to].filter((way) => {
    const actions = [...HISTORY[from], ...way];
    const isTakeable = STARTED_PLAN_STATUSES.includes(from);
    if (way.includes("take") && !isTakeable) return false;
    return statusAfter(actions.slice(0, -1)) === from && statusAfter(actions) === to;
  });
}

/** The status of a plan after these actions; undefined when `fold` refuses one of them. */
function statusAfter(actions: readonly Action[]): PlanStatus | undefined {
  let epoch = 0;
  const entries = actions.map((action, index): JournalEntry => {
    if (action === "take") epoch += 1;
    const seq = index + 1;
    return JournalEntrySchema.parse({
      requestId: REQUEST,
      tenant: "t",
      planId: PLAN,
      seq,
      ...(epoch > 0 && { epoch }),
      by: { kind: "executor", id: "one" },
      at: new Date(seq),
      writeId: `w${seq}`,
      events: [eventOf(action, epoch)],
    });
  });
  try {
    return fold(emptyRequest(REQUEST), entries).plans.get(PLAN)?.status;
  } catch (error) {
    if (error instanceof JournalInvalidError) return undefined;
    throw error;
  }
}

function eventOf(action: Action, epoch: number): unknown {
  if (typeof action === "object") {
    return "end" in action
      ? { type: "plan.ended", status: action.end, outputs: null, error: null }
      : { type: "lease.released", status: action.release, waitReason: null, dueAt: null };
  }
  switch (action) {
    case "store":
    case "store invalid": {
      const isValid = action === "store";
      return {
        type: "plan.stored",
        planId: PLAN,
        version: 1,
        isValid,
        carried: [],
        settled: [],
        unanswered: [],
      };
    }
    case "execute":
      return { type: "execution.asked" };
    case "take":
      return { type: "lease.taken", worker: "one", epoch, from: null };
    case "cancel":
    case "pause":
    case "resume":
      return { type: `${action}.asked` };
  }
}
