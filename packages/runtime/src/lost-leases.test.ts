import type { PlanId } from "@planwright/plan";
import { expect, test } from "vitest";
import { createLostLeases } from "./lease-keeper.ts";

const A = { id: "plan_1700000000_abcdefghijklmnopqrst" as PlanId, epoch: 1 };
const B = { id: "plan_1700000000_bcdefghijklmnopqrstu" as PlanId, epoch: 3 };
const leases = () => createLostLeases<PlanId>({ everyMs: 300, deadAfterMs: 1_000, nowMs: 0, computedMs: 0 });

test("a lost lease in a process that is alive counts as survived, and is returned once", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.lost(B, 200);
  expect(lost.beat({ nowMs: 300, computedMs: 290 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([A, B]);
  expect(lost.takeSurvived()).toEqual([]);
});

test("a blocked process does not return leases of plans that it had begun before", () => {
  const lost = leases();
  lost.lost(A, 100);
  expect(lost.beat({ nowMs: 810, computedMs: 405 })).toBe(810);
  expect(lost.takeSurvived()).toEqual([]);
  lost.lost(B, 811);
  expect(lost.beat({ nowMs: 1_111, computedMs: 500 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([B]);
});

test("a gap without CPU time is not the fault of the work: the process was suspended", () => {
  const lost = leases();
  lost.lost(A, 100);
  expect(lost.beat({ nowMs: 5_000, computedMs: 1_000 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([A]);
});

test("a beat that is slightly late is not a gap", () => {
  const lost = leases();
  lost.lost(A, 100);
  expect(lost.beat({ nowMs: 800, computedMs: 800 })).toBe(0);
  expect(lost.takeSurvived()).toEqual([A]);
});

test("leases that could not be recorded are returned again, also after the process was blocked", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.beat({ nowMs: 300, computedMs: 0 });
  lost.putBack(lost.takeSurvived());
  lost.beat({ nowMs: 5_000, computedMs: 5_000 });
  expect(lost.takeSurvived()).toEqual([A]);
});
