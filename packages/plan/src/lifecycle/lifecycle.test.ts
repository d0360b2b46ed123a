import { expect, test } from "vitest";
import {
  canMove,
  needsPerson,
  type Rows,
  type StatusFacts,
  statusesBefore,
  statusesOf,
  type WaitReason,
  WaitReasonSchema,
} from "./lifecycle.ts";
import { PLAN_LIFECYCLE, planNeed } from "./plan-lifecycle.ts";
import { REQUEST_LIFECYCLE } from "./request-lifecycle.ts";
import { STATE_LOOKS, stateLook } from "./state-words.ts";
import { isSettledStepStatus, isTerminalStepStatus, STEP_LIFECYCLE } from "./step-lifecycle.ts";

const TABLES: [string, Rows<string, StatusFacts<string>>, string[]][] = [
  ["requests", REQUEST_LIFECYCLE, ["PLANNING", "READY", "EXECUTING", "FAILED"]],
  ["plans", PLAN_LIFECYCLE, ["INVALID", "READY", "QUEUED"]],
  ["steps", STEP_LIFECYCLE, ["PENDING"]],
];

test.each(TABLES)("every status of %s is the first one, or can follow another one", (_, table, first) => {
  const unreachable = statusesOf(table).filter((status) => statusesBefore(table, status).length === 0);
  expect(first).toEqual(expect.arrayContaining(unreachable));
});

test.each(TABLES)("no status of %s moves to itself, or to another one twice", (_, table) => {
  for (const status of statusesOf(table)) {
    const { moves } = table[status] ?? { moves: [] };
    expect(moves).not.toContain(status);
    expect(new Set(moves).size).toBe(moves.length);
  }
});

test.each(TABLES.slice(1))(
  "terminal statuses of %s need nothing, and all other statuses can reach a terminal one",
  (_, table) => {
    const endsOf = (status: string, seen: ReadonlySet<string>): boolean => {
      const moves = table[status]?.moves ?? [];
      return (
        moves.length === 0 || moves.some((next) => !seen.has(next) && endsOf(next, new Set([...seen, next])))
      );
    };
    for (const [status, { moves, needs }] of Object.entries(table)) {
      if (moves.length === 0) expect(needs).toBe("nothing");
      expect(endsOf(status, new Set([status]))).toBe(true);
    }
  },
);

test("a step in doubt is settled for its executor, but has not ended", () => {
  expect(isSettledStepStatus("IN_DOUBT")).toBe(true);
  expect(isTerminalStepStatus("IN_DOUBT")).toBe(false);
});

test.each(WaitReasonSchema.options)(
  "a plan that is WAITING (%s) has the need of its wait reason",
  (waitReason) => {
    const isForPeople = ["approval", "in doubt", "sign-in", "paused"].includes(waitReason);
    expect(needsPerson(planNeed({ status: "WAITING", waitReason }))).toBe(isForPeople);
  },
);

test("a plan that is RUNNING needs a worker, whatever its last wait reason", () => {
  expect(planNeed({ status: "RUNNING", waitReason: "approval" })).toBe("worker");
});

test("terminal statuses have no moves, and all other statuses have some", () => {
  expect(canMove(STEP_LIFECYCLE, "COMPLETED", "PENDING")).toBe(false);
  expect(canMove(STEP_LIFECYCLE, "PENDING", "RUNNING")).toBe(true);
  expect(canMove(PLAN_LIFECYCLE, "SUPERSEDED", "READY")).toBe(false);
});

const KINDS = Object.entries(STATE_LOOKS) as [keyof typeof STATE_LOOKS, object][];
const PAIRS = KINDS.flatMap(([kind, looks]) =>
  Object.keys(looks).flatMap((status) =>
    [null, ...WaitReasonSchema.options].map((waitReason) => ({ kind, status, waitReason })),
  ),
);

test("every state has words, whatever it waits for, and only those that wait name the reason", () => {
  for (const { kind, status, waitReason } of PAIRS) {
    const { word } = stateLook(kind, { status, waitReason });
    expect(word).toMatch(/^[a-z][a-z :,-]+$/);
    if (waitReason === null) expect(word).toBe(stateLook(kind, { status }).word);
  }
});

test.each<[keyof typeof STATE_LOOKS, string, WaitReason, string, mark: string]>([
  ["plan", "QUEUED", "limit", "queued: waits for an executor with a free slot", "○"],
  ["plan", "WAITING", "limit", "waits for a free slot of its tool", "‖"],
  ["plan", "WAITING", "approval", "waits for an approval", "!"],
  ["plan", "RUNNING", "no worker", "running: no executor is alive", "▸"],
  ["request", "PLANNING", "no worker", "planning: no planner is alive", "▸"],
  ["request", "PLANNING", "limit", "planning: waits for a planner with a free slot", "▸"],
  ["step", "PENDING", "memory", "waits for memory of its executor", "○"],
  ["plan", "WAITING", "sign-in", "waits for a sign-in", "!"],
  ["step", "RETRYING", "sign-in", "waits for a sign-in", "!"],
  ["step", "WAITING_APPROVAL", "approval", "waits for an approval", "!"],
])("a %s that is %s because of %s: %s", (kind, status, waitReason, word, mark) => {
  expect(stateLook(kind, { status, waitReason })).toMatchObject({ word, mark });
});
