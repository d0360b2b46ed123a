/**
 * Every move of the plans' table is told by events of the journal, and what is no move of the table cannot be
 * told.
 */
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
 * What is told, in a word: `take` is a worker's claim; what a worker says when it gives the plan back, or
 * ends it, names the status.
 */
type Word =
  | "store"
  | "store invalid"
  | "execute"
  | "take"
  | "cancel"
  | "pause"
  | "resume"
  | { release: PlanStatus }
  | { end: PlanStatus };

const RUNNING: Word[] = ["store", "execute", "take"];

/** How a plan comes to stand there. */
const HISTORY: Readonly<Record<PlanStatus, Word[]>> = {
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
 * How a plan is moved on to a status: by the last word of one of these ways. A plan that was started is ended
 * by a worker that took it.
 */
const WAYS: Readonly<Record<PlanStatus, Word[][]>> = {
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

test.each(PlanStatusSchema.options)("a plan comes to be %s", (status) => {
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

/** The ways whose last word moves a plan from one status to the other. */
function waysBetween(from: PlanStatus, to: PlanStatus): Word[][] {
  return WAYS[to].filter((way) => {
    const words = [...HISTORY[from], ...way];
    const isTakeable = STARTED_PLAN_STATUSES.includes(from);
    if (way.includes("take") && !isTakeable) return false;
    return statusAfter(words.slice(0, -1)) === from && statusAfter(words) === to;
  });
}

/** Where a plan stands after these words; undefined when one of them cannot be told. */
function statusAfter(words: readonly Word[]): PlanStatus | undefined {
  let epoch = 0;
  const entries = words.map((word, index): JournalEntry => {
    if (word === "take") epoch += 1;
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
      events: [eventOf(word, epoch)],
    });
  });
  try {
    return fold(emptyRequest(REQUEST), entries).plans.get(PLAN)?.status;
  } catch (error) {
    if (error instanceof JournalInvalidError) return undefined;
    throw error;
  }
}

function eventOf(word: Word, epoch: number): unknown {
  if (typeof word === "object") {
    return "end" in word
      ? { type: "plan.ended", status: word.end, outputs: null, error: null }
      : { type: "lease.released", status: word.release, waitReason: null, dueAt: null };
  }
  switch (word) {
    case "store":
    case "store invalid": {
      const isValid = word === "store";
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
      return { type: `${word}.asked` };
  }
}
