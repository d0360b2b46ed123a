import { expect, test } from "vitest";
import { type PlanChange, percentile, plansHeld, recoveriesOf } from "./evidence.ts";

const claim = (at: number, id: string, epoch: number, pid: number): PlanChange => ({
  at,
  collection: "plans",
  id,
  type: "update",
  fields: [],
  status: "RUNNING",
  epoch,
  owner: `host:${pid}:abc`,
});
const end = (at: number, id: string, status: string): PlanChange => ({
  ...claim(at, id, 1, 0),
  owner: undefined,
  epoch: undefined,
  status,
});

test("a recovery lasts from the death of the holder until the next claim", () => {
  const changes = [claim(0, "p1", 1, 10), claim(5, "p2", 1, 11), claim(2_500, "p1", 2, 11)];
  expect(recoveriesOf(changes, [{ pid: 10, at: 1_000 }])).toEqual({ inFlight: 1, times: [1_500] });
});

test("plans of other processes, ended plans, waiting plans and plans whose end was being written have no recovery", () => {
  const changes = [
    claim(0, "ended", 1, 10),
    claim(0, "waiting", 1, 10),
    claim(0, "ending", 1, 10),
    claim(0, "other", 1, 11),
    end(500, "ended", "COMPLETED"),
    end(500, "waiting", "WAITING"),
    end(1_001, "ending", "COMPLETED"),
    claim(4_000, "waiting", 2, 11),
    claim(4_000, "other", 2, 12),
  ];
  expect(recoveriesOf(changes, [{ pid: 10, at: 1_000 }])).toEqual({ inFlight: 1, times: [] });
});

test("a plan whose holders die one after the other is recovered twice", () => {
  const changes = [claim(0, "p", 1, 10), claim(2_000, "p", 2, 11), claim(7_000, "p", 3, 12)];
  const kills = [
    { pid: 11, at: 4_000 },
    { pid: 10, at: 1_000 },
  ];
  expect(recoveriesOf(changes, kills)).toEqual({ inFlight: 2, times: [1_000, 3_000] });
});

test("percentiles of an empty list are null", () => {
  expect(percentile([], 0.5)).toBeNull();
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(3);
  expect(percentile([1, 2, 3, 4], 0.99)).toBe(4);
});

test("a process holds the plans that it claimed and has not ended or released", () => {
  const changes = [
    claim(0, "p1", 1, 10),
    claim(0, "p2", 1, 10),
    claim(0, "p3", 1, 10),
    claim(5, "p2", 2, 11),
    end(6, "p3", "FAILED"),
  ];
  expect([...plansHeld(changes)]).toEqual([
    [10, 1],
    [11, 1],
  ]);
});
