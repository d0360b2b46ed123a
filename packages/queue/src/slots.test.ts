import { expect, test } from "vitest";
import { createSlots } from "./queue-worker.ts";

/** What each tenant holds after it took all that it may, one tenant after another. */
function held(max: number, tenants: readonly string[], isShared = true): number[] {
  const slots = createSlots({ max, isShared: () => isShared });
  return tenants.map((tenant) => {
    let count = 0;
    while (slots.take(tenant)) count += 1;
    return count;
  });
}

test.each<[string, number, string[], number[], boolean?]>([
  ["one tenant alone leaves a quarter of 64 slots free", 64, ["a"], [48]],
  ["tenants that come one after another each find a slot", 64, ["a", "b", "c", "d"], [48, 12, 3, 1]],
  ["while one tenant is known it takes all slots", 64, ["a"], [64], false],
  ["of two slots one stays free for another tenant", 2, ["a", "b"], [1, 1]],
  ["of four slots one stays free for another tenant", 4, ["a", "b"], [3, 1]],
  ["one slot is taken by the tenant that comes first", 1, ["a", "b"], [1, 0]],
])("%s", (_, max, tenants, expected, isShared) => {
  expect(held(max, tenants, isShared)).toEqual(expected);
});

test("a released slot can be taken again, once", () => {
  const slots = createSlots({ max: 2, isShared: () => false });
  const release = slots.take("a");
  slots.take("a");
  expect([slots.take("a"), slots.free(), slots.full()]).toEqual([null, 0, ["a"]]);
  release?.();
  release?.();
  expect([slots.free(), slots.full()]).toEqual([1, []]);
});

test("a blocked tenant gets no slot and is named, until it is blocked no more", () => {
  const blocked: string[] = [];
  const slots = createSlots({ max: 8, isShared: () => true, blocked: () => blocked });
  slots.take("a");
  blocked.push("a", "b");
  expect([slots.take("a"), slots.take("b"), slots.full()]).toEqual([null, null, ["a", "b"]]);
  expect(slots.take("c")).not.toBeNull();
  blocked.pop();
  expect([slots.take("b") !== null, slots.full()]).toEqual([true, ["a"]]);
});

test("a process that may start less than its slots gives no more", () => {
  let capacity = 1;
  const slots = createSlots({ max: 8, capacity: () => capacity, isShared: () => false });
  expect(slots.take("a")).not.toBeNull();
  capacity = 0;
  expect([slots.take("b"), slots.free()]).toEqual([null, 0]);
});

test("as much work begins at once as the gate lets in, and the rest follows in order", async () => {
  const slots = createSlots({ max: 8, maxBeginning: 2, isShared: () => true });
  const inside: number[] = [];
  const ends: (() => void)[] = [];
  const entries = [0, 1, 2, 3].map(async (index) => {
    ends[index] = await slots.enter();
    inside.push(index);
  });
  await Promise.all(entries.slice(0, 2));
  expect(inside).toEqual([0, 1]);
  ends[1]?.();
  ends[1]?.();
  await entries[2];
  expect(inside).toEqual([0, 1, 2]);
  ends[0]?.();
  await entries[3];
  expect(inside).toEqual([0, 1, 2, 3]);
});

test("the gate is open while one tenant is known, also to work that waits when the next one leaves it", async () => {
  let isShared = false;
  const slots = createSlots({ max: 8, maxBeginning: 1, isShared: () => isShared });
  const ends = await Promise.all([slots.enter(), slots.enter(), slots.enter()]);
  isShared = true;
  let inside = 0;
  const entries = [1, 2].map(async () => {
    await slots.enter();
    inside += 1;
  });
  ends[0]?.();
  await new Promise(setImmediate);
  expect([inside, slots.enterNow()]).toEqual([0, null]);
  isShared = false;
  ends[1]?.();
  await Promise.all(entries);
  expect(inside).toBe(2);
});
