import { expect, test, vi } from "vitest";
import { OverloadedError } from "../errors/api-error.ts";
import { createByteBudget, type GrantRequest } from "./answer-bytes.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));
const want = (tenant: string, bytes: number, more: Partial<GrantRequest> = {}): GrantRequest => ({
  tenant,
  bytes,
  hasNoTimeout: true,
  ...more,
});

/** A budget, and the names of granted callers in order. */
function budgetOf(maxBytes: number) {
  const budget = createByteBudget({ maxBytes, waitMs: 20, random: () => 0 });
  const granted: string[] = [];
  const acquire = async (name: string, request: GrantRequest) => {
    const grant = await budget.acquire(request);
    granted.push(name);
    return grant;
  };
  return { budget, granted, acquire };
}

test("a tenant holds at most half of the budget, so other tenants still get grants", async () => {
  const { granted, acquire, budget } = budgetOf(100);
  const first = await acquire("a1", want("a", 50));
  void acquire("a2", want("a", 10));
  await acquire("b1", want("b", 50));
  expect(granted).toEqual(["a1", "b1"]);
  expect(budget.heldBytes()).toBe(100);
  first.shrink(40);
  await settled();
  expect(granted).toEqual(["a1", "b1", "a2"]);
});

test("the waiting tenant that holds least is served first", async () => {
  const { granted, acquire } = budgetOf(100);
  const grants = [await acquire("a1", want("a", 40)), await acquire("b1", want("b", 20))];
  const last = await acquire("c1", want("c", 40));
  void acquire("a2", want("a", 10));
  void acquire("b2", want("b", 30));
  void acquire("d1", want("d", 30));
  last.shrink(10);
  await settled();
  expect(granted).toEqual(["a1", "b1", "c1", "d1"]);
  for (const grant of [...grants, last]) grant.release();
  await settled();
  expect(granted).toEqual(["a1", "b1", "c1", "d1", "a2", "b2"]);
});

test("a large request is not overtaken forever", async () => {
  const { granted, acquire } = budgetOf(100);
  const first = await acquire("a1", want("a", 50));
  await acquire("b1", want("b", 20));
  void acquire("c1", want("c", 50));
  void acquire("b2", want("b", 10));
  await settled();
  expect(granted).toEqual(["a1", "b1"]);
  first.release();
  await settled();
  expect(granted).toEqual(["a1", "b1", "c1", "b2"]);
});

test("a caller that waited too long is refused, but never one without a timeout", async () => {
  const refused = vi.fn<(reason: string) => void>();
  const budget = createByteBudget({ maxBytes: 100, waitMs: 1, metrics: { refused }, random: () => 0.5 });
  const first = await budget.acquire(want("a", 50));
  const withoutTimeout = budget.acquire(want("a", 50));
  const withTimeout = budget.acquire(want("a", 50, { hasNoTimeout: false }));
  await expect(withTimeout).rejects.toThrow(OverloadedError);
  await expect(withTimeout).rejects.toMatchObject({ facts: { retryAfterMs: 1_500 } });
  expect(refused).toHaveBeenCalledWith("bytes");
  first.release();
  expect((await withoutTimeout).release).toBeTypeOf("function");
});

test("a caller whose client has disconnected holds nothing and does not wait", async () => {
  const { budget } = budgetOf(100);
  const first = await budget.acquire(want("a", 50));
  const disconnected = new AbortController();
  const waiting = budget.acquire(want("a", 50, { signal: disconnected.signal }));
  disconnected.abort();
  await expect(waiting).rejects.toThrow(OverloadedError);
  await expect(budget.acquire(want("b", 1, { signal: disconnected.signal }))).rejects.toThrow(
    OverloadedError,
  );
  first.release();
  first.release();
  expect(budget.heldBytes()).toBe(0);
});
