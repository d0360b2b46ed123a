import { expect, test, vi } from "vitest";
import { OverloadedError } from "../errors/service-errors.ts";
import { createByteBudget, type GrantRequest } from "./byte-budget.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));
const want = (tenant: string, bytes: number, more: Partial<GrantRequest> = {}): GrantRequest => ({
  tenant,
  bytes,
  hasNoTimeout: true,
  ...more,
});

/** A budget, and the grants of its callers in the order in which they came. */
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

test("a tenant holds half of the budget at most, and the others find room all the same", async () => {
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

test("of several tenants that wait the one that holds least is served first", async () => {
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

test("what is too large for what is left is not passed by forever", async () => {
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

test("a caller that waited too long is refused, and a patient one never", async () => {
  const refused = vi.fn<(reason: string) => void>();
  const budget = createByteBudget({ maxBytes: 100, waitMs: 1, metrics: { refused }, random: () => 0.5 });
  const first = await budget.acquire(want("a", 50));
  const patient = budget.acquire(want("a", 50));
  const impatient = budget.acquire(want("a", 50, { hasNoTimeout: false }));
  await expect(impatient).rejects.toThrow(OverloadedError);
  await expect(impatient).rejects.toMatchObject({ facts: { retryAfterMs: 1_500 } });
  expect(refused).toHaveBeenCalledWith("bytes");
  first.release();
  expect((await patient).release).toBeTypeOf("function");
});

test("a caller whose client is gone holds nothing, and waits for nothing", async () => {
  const { budget } = budgetOf(100);
  const first = await budget.acquire(want("a", 50));
  const gone = new AbortController();
  const waiting = budget.acquire(want("a", 50, { signal: gone.signal }));
  gone.abort();
  await expect(waiting).rejects.toThrow(OverloadedError);
  await expect(budget.acquire(want("b", 1, { signal: gone.signal }))).rejects.toThrow(OverloadedError);
  first.release();
  first.release();
  expect(budget.heldBytes()).toBe(0);
});
