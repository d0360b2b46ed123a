import type { PlanId } from "@planwright/plan";
import { expect, test } from "vitest";
import { createLostLeases } from "./lost-leases.ts";

const A = { id: "plan_1700000000_abcdefghijklmnopqrst" as PlanId, epoch: 1 };
const B = { id: "plan_1700000000_bcdefghijklmnopqrstu" as PlanId, epoch: 3 };
const leases = () => createLostLeases<PlanId>({ everyMs: 300, deadAfterMs: 1_000, nowMs: 0, computedMs: 0 });

test("a plan whose lease was lost in a process that lives on was survived, and is told of once", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.lost(B, 200);
  expect(lost.beat({ nowMs: 300, computedMs: 290 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([A, B]);
  expect(lost.takeSurvived()).toEqual([]);
});

test("a process that was blocked says nothing of the plans that it had begun", () => {
  const lost = leases();
  lost.lost(A, 100);
  expect(lost.beat({ nowMs: 810, computedMs: 405 })).toBe(810);
  expect(lost.takeSurvived()).toEqual([]);
  lost.lost(B, 811);
  expect(lost.beat({ nowMs: 1_111, computedMs: 500 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([B]);
});

test("a process that stood still without computing was stopped, by a machine or by an operator", () => {
  const lost = leases();
  lost.lost(A, 100);
  expect(lost.beat({ nowMs: 5_000, computedMs: 1_000 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([A]);
});

test("a beat that is a little late is no gap", () => {
  const lost = leases();
  lost.lost(A, 100);
  expect(lost.beat({ nowMs: 800, computedMs: 800 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([A]);
});

test("what could not be told of is given again, also after the process was blocked", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.beat({ nowMs: 300, computedMs: 0 });
  lost.putBack(lost.takeSurvived());
  lost.beat({ nowMs: 5_000, computedMs: 5_000 });
  expect(lost.takeSurvived()).toEqual([A]);
});
