import { expect, test } from "vitest";
import { createWorkQuota } from "./work-quota.ts";

test("a process that keeps its leases may hold all plans", () => {
  const quota = createWorkQuota(64);
  quota.beat();
  expect(quota.allowed()).toBe(64);
});

test("losses between two renewals halve once what was held, down to an eighth of all", () => {
  const quota = createWorkQuota(64);
  quota.lost(20);
  quota.lost(19);
  quota.beat();
  expect(quota.allowed()).toBe(10);
  for (let beats = 0; beats < 8; beats += 1) {
    quota.lost(10);
    quota.beat();
  }
  expect(quota.allowed()).toBe(8);
});

test("without losses it rises again, little by little, to all", () => {
  const quota = createWorkQuota(64);
  quota.lost(2);
  quota.beat();
  quota.beat();
  expect(quota.allowed()).toBe(24);
  for (let beats = 0; beats < 3; beats += 1) quota.beat();
  expect(quota.allowed()).toBe(64);
});
