import { expect, test } from "vitest";
import { createWorkQuota } from "./lease-keeper.ts";

test("a process that keeps its leases may hold all plans", () => {
  const quota = createWorkQuota(64);
  quota.beat();
  expect(quota.allowed()).toBe(64);
});

test("losses between two beats halve the held work once, down to an eighth of the maximum", () => {
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

test("without losses the quota rises in steps to the maximum", () => {
  const quota = createWorkQuota(64);
  quota.lost(2);
  quota.beat();
  quota.beat();
  expect(quota.allowed()).toBe(24);
  for (let beats = 0; beats < 3; beats += 1) quota.beat();
  expect(quota.allowed()).toBe(64);
});
