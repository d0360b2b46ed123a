import type { PlanId } from "@planwright/plan";
import { expect, test } from "vitest";
import { createLostLeases } from "./lost-leases.ts";

const [A, B] = ["plan_a", "plan_b"] as PlanId[] as [PlanId, PlanId];
const leases = () => createLostLeases({ everyMs: 300, leaseMs: 1_000, nowMs: 0 });

test("a plan whose lease was lost in a process that lives on was outlived, and is told of once", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.lost(B, 200);
  lost.beat(300);
  expect(lost.takeOutlived()).toEqual([A, B]);
  expect(lost.takeOutlived()).toEqual([]);
});

test("a process that stood still says nothing of the plans that it had begun", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.beat(801);
  expect(lost.takeOutlived()).toEqual([]);
  lost.lost(B, 802);
  lost.beat(1_101);
  expect(lost.takeOutlived()).toEqual([B]);
});

test("a beat that is a little late is no standing still", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.beat(800);
  expect(lost.takeOutlived()).toEqual([A]);
});

test("what could not be told of is given again, also after the process stood still", () => {
  const lost = leases();
  lost.lost(A, 100);
  lost.beat(300);
  lost.putBack(lost.takeOutlived());
  lost.beat(5_000);
  expect(lost.takeOutlived()).toEqual([A]);
});
