import { expect, test } from "vitest";
import type { JournalEntry, JournalEvent } from "./events.ts";
import { emptyRequest, fold } from "./fold.ts";
import { deadlineOf, timeUse, timeUseText, unitTime, waitedForPeopleMs } from "./time-use.ts";

const PLAN = "plan_1";
const MINUTE = 60_000;
const at = (minute: number): Date => new Date(minute * MINUTE);

/** Entries of one plan, by the minutes at which they were written. */
function journalOf(...entries: [minute: number, ...events: JournalEvent[]][]): JournalEntry[] {
  let epoch = 0;
  return entries.map(([minute, ...events], index) => {
    for (const event of events) if (event.type === "lease.taken") epoch = event.epoch;
    return {
      requestId: "req_1",
      tenant: "t",
      planId: PLAN,
      seq: index + 1,
      by: { kind: "executor" as const, id: "w" },
      at: at(minute),
      writeId: `w${index}`,
      events,
      ...(epoch > 0 && { epoch }),
    };
  });
}

function planAfter(entries: readonly JournalEntry[]) {
  const plan = fold(emptyRequest("req_1"), entries).plans.get(PLAN);
  if (!plan) throw new TypeError("no plan");
  return plan;
}

const useAt = (minute: number, ...entries: Parameters<typeof journalOf>) =>
  inMinutes(timeUse(planAfter(journalOf(...entries)), at(minute)));

/** The times in minutes; absent: 0. */
function inMinutes({ waitedMs, ...times }: ReturnType<typeof timeUse>) {
  const all = { ...times, ...waitedMs };
  return Object.fromEntries(
    Object.entries(all).flatMap(([use, ms]) => (ms > 0 ? [[use.replace(/Ms$/, ""), ms / MINUTE]] : [])),
  );
}

const taken = (epoch: number, from: string | null = null): JournalEvent => ({
  type: "lease.taken",
  worker: "w",
  epoch,
  from,
});
const asked: JournalEvent = { type: "execution.asked" };
const handedOver: JournalEvent = {
  type: "lease.released",
  status: "QUEUED",
  waitReason: null,
  dueAt: null,
};
const released = (waitReason: "approval" | "in doubt" | "backoff" | "limit" | "paused"): JournalEvent => ({
  type: "lease.released",
  status: waitReason === "paused" ? "PAUSED" : "WAITING",
  waitReason,
  dueAt: null,
});
const started = (key: string, attempt: number, minute: number): JournalEvent => ({
  type: "attempt.started",
  attemptId: `${key}${attempt}`,
  attempt,
  stepId: key,
  units: [key],
  tool: "t",
  effectClass: "R",
  mayAct: false,
  argsHash: "h",
  arguments: { sizeBytes: 2 },
  at: at(minute),
});
const ended = (key: string, attempt: number, minute: number, isUnsent = false): JournalEvent => ({
  type: "attempt.ended",
  attemptId: `${key}${attempt}`,
  units: [key],
  outcome: "failed",
  error: null,
  at: at(minute),
  durationMs: 1,
  ...(isUnsent && { isUnsent: true as const }),
});
type StepChanged = Extract<JournalEvent, { type: "step.changed" }>;
const changed = (key: string, status: StepChanged["status"]): JournalEvent => ({
  type: "step.changed",
  key,
  stepId: key,
  status,
});
const approved = (minute: number): JournalEvent => ({
  type: "approval.given",
  stepId: "a",
  approved: true,
  approvalHash: "h",
  reason: null,
  asked: { id: 1, by: "ann", at: at(minute) },
});
const control = (
  type: "pause.asked" | "resume.asked" | "cancel.asked",
  id: number,
  minute: number,
): JournalEvent => ({
  type,
  asked: { id, by: "ann", at: at(minute) },
});

test.each<[string, Record<string, number>, Parameters<typeof journalOf>]>([
  ["a plan that was not claimed has used none", {}, [[0, asked]]],
  [
    "a call counts while it runs, the rest is the system's own work",
    { total: 20, own: 20, calls: 15, other: 5 },
    [
      [0, asked, taken(1)],
      [5, started("a", 1, 5)],
    ],
  ],
  [
    "calls at the same time count once",
    { total: 20, own: 20, calls: 12, other: 8 },
    [
      [0, asked, taken(1)],
      [2, started("a", 1, 2)],
      [4, started("b", 1, 4)],
      [10, ended("a", 1, 10)],
      [14, ended("b", 1, 14)],
    ],
  ],
  [
    "an approval is not the plan's own time, from its release to the decision",
    { total: 20, own: 8, approval: 12, "no worker": 1, other: 7 },
    [
      [0, asked, taken(1), changed("a", "WAITING_APPROVAL")],
      [4, released("approval")],
      [17, taken(2), approved(16)],
    ],
  ],
  [
    "an approval that another call does not wait for is own time",
    { total: 20, own: 20, calls: 18, other: 2 },
    [
      [0, asked, taken(1), changed("a", "WAITING_APPROVAL")],
      [2, started("b", 1, 2)],
    ],
  ],
  [
    "a pause counts from its request to the resume, also when only the next claim records them",
    { total: 20, own: 14, paused: 6, backoff: 4, "no worker": 1, other: 9 },
    [
      [0, asked, taken(1)],
      [1, released("backoff")],
      [12, taken(2), control("pause.asked", 1, 5), control("resume.asked", 2, 11)],
    ],
  ],
  [
    "a pause counts from its request, also when its executor was lost before that or before it released the plan",
    { total: 20, own: 6, paused: 14, "no worker": 4, other: 2 },
    [
      [0, asked, taken(1)],
      [1, started("a", 1, 1), ended("a", 1, 1)],
      [9, taken(2, "w"), control("pause.asked", 1, 5)],
      [19, taken(3, "w")],
    ],
  ],
  [
    "a pause counts while no executor lives to which a plan was handed over, until a cancel",
    { total: 20, own: 7, paused: 13, "no worker": 6, other: 1 },
    [
      [0, asked, taken(1)],
      [1, control("pause.asked", 1, 1), handedOver],
      [20, taken(2), control("cancel.asked", 2, 14)],
    ],
  ],
  [
    "a doubt, and a wait that lasts",
    { total: 20, own: 3, "in doubt": 17, other: 3 },
    [
      [0, asked, taken(1)],
      [3, released("in doubt")],
    ],
  ],
  [
    "an unreachable server, and a backoff after a call",
    { total: 20, own: 20, calls: 2, unreachable: 12, backoff: 6 },
    [
      [0, asked, taken(1), started("a", 1, 0)],
      [2, ended("a", 1, 2), changed("a", "RETRYING")],
      [2, released("backoff")],
      [8, taken(2), started("a", 2, 8)],
      [9, ended("a", 2, 9, true), changed("a", "RETRYING"), released("backoff")],
    ],
  ],
  [
    "a limit of the plan's tools",
    { total: 20, own: 20, limit: 18, other: 2 },
    [
      [0, asked, taken(1)],
      [2, released("limit")],
    ],
  ],
])("%s", (_, expected, entries) => {
  expect(useAt(20, ...entries)).toEqual(expected);
});

test("the time of a plan ends with it, and every fold of its entries gives the same", () => {
  const entries = journalOf(
    [0, asked, taken(1), changed("a", "WAITING_APPROVAL")],
    [1, released("approval")],
    [601, taken(2), approved(601)],
    [601, changed("a", "PENDING"), started("a", 1, 601)],
    [
      603,
      ended("a", 1, 603),
      changed("a", "FAILED"),
      { type: "plan.ended", status: "FAILED", outputs: null, error: null },
    ],
  );
  const plan = planAfter(entries);
  expect(inMinutes(timeUse(plan, at(9_999)))).toEqual({
    total: 603,
    own: 3,
    approval: 600,
    calls: 2,
    other: 1,
  });
  expect(waitedForPeopleMs(plan, at(9_999))).toBe(600 * MINUTE);
  for (const [index] of entries.entries()) {
    const halves = [entries.slice(0, index), entries.slice(index)];
    const folded = halves.reduce((state, part) => fold(state, part), emptyRequest("req_1"));
    expect(folded.plans.get(PLAN)?.waits).toEqual(plan.waits);
  }
});

test("a step's time begins with its question or first call, and only its own calls count", () => {
  const plan = planAfter(
    journalOf(
      [0, asked, taken(1), started("b", 1, 0)],
      [5, changed("a", "WAITING_APPROVAL")],
      [9, changed("a", "PENDING"), started("a", 1, 9)],
    ),
  );
  const use = timeUse(plan, at(20), "a");
  expect(inMinutes(use)).toEqual({ total: 15, own: 11, approval: 4, calls: 11 });
});

test.each<[string, { own: number; waited: number }, Parameters<typeof journalOf>]>([
  [
    "its approval is waited for before its first call",
    { own: 3, waited: 5 },
    [
      [0, asked, taken(1), changed("a", "WAITING_APPROVAL")],
      [5, approved(5), changed("a", "PENDING")],
      [6, started("a", 1, 6)],
      [9, ended("a", 1, 9), changed("a", "FAILED")],
    ],
  ],
  [
    "a pause of its plan between two calls is waited for",
    { own: 4, waited: 10 },
    [
      [0, asked, taken(1)],
      [1, started("a", 1, 1)],
      [2, ended("a", 1, 2), changed("a", "RETRYING")],
      [3, control("pause.asked", 1, 3), released("paused")],
      [13, taken(2), control("resume.asked", 2, 13)],
      [14, started("a", 2, 14)],
      [15, ended("a", 2, 15), changed("a", "FAILED")],
    ],
  ],
])("the time of a step that has ended: %s", (_, { own, waited }, entries) => {
  const plan = planAfter(journalOf(...entries));
  const time = unitTime(plan.units.get("a")!, plan.waits);
  expect(time).toEqual({ ownMs: own * MINUTE, waitedForPeopleMs: waited * MINUTE });
});

test("the text names what used the time, and the deadline moves by the waits for people", () => {
  const plan = planAfter(
    journalOf(
      [0, asked, taken(1), changed("a", "WAITING_APPROVAL")],
      [0, released("approval")],
      [600, taken(2), approved(600), changed("a", "PENDING"), started("a", 1, 600)],
      [610, ended("a", 1, 610, true), changed("a", "RETRYING"), released("backoff")],
    ),
  );
  expect(timeUseText(plan, at(655))).toBe(
    "own time 55 min 0 s: 55 min 0 s waiting for a server that cannot be reached (step a); not counted: 10 h 0 min an approval (step a)",
  );
  expect(deadlineOf(plan, { startedAt: at(0), timeoutMs: 60 * MINUTE })).toEqual(at(660));
});

test.each([
  ["a doubt of 100 days", [released("in doubt")]],
  ["a pause of 100 days", [control("pause.asked", 1, 1), released("paused")]],
])("%s moves the deadline by itself, and ends nothing", (_, parked) => {
  const days = 100 * 24 * 60;
  const plan = planAfter(journalOf([0, asked, taken(1)], [1, ...parked], [1 + days, taken(2)]));
  expect(deadlineOf(plan, { startedAt: at(0), timeoutMs: 60 * MINUTE })).toEqual(at(60 + days));
});
