import { expect, onTestFinished, test } from "vitest";
import { createSlots } from "./queue-worker.ts";
import { createSweeper, type DueWork, type SweeperOptions } from "./sweeper.ts";

const due = (id: string, tenant = "t1"): DueWork => ({ id, tenant });

function sweep(options: Partial<SweeperOptions>) {
  const handled: string[] = [];
  const errors: unknown[] = [];
  const sweeper = createSweeper({
    everyMs: 1,
    find: async () => [],
    slots: createSlots({ max: 10, isShared: () => false }),
    handle: async (id) => void handled.push(id),
    onError: (error) => void errors.push(error),
    ...options,
  });
  onTestFinished(() => sweeper.stop());
  return { handled, errors, sweeper };
}

test("a sweeper passes the ids that it finds to the handler, again at each look", async () => {
  const { handled } = sweep({ find: async () => [due("plan_1")] });
  await expect.poll(() => handled.length).toBeGreaterThan(2);
});

test("a sweeper asks for as much as it has free slots, and does not look without one", async () => {
  const limits: number[] = [];
  let capacity = 0;
  sweep({
    slots: createSlots({ max: 10, capacity: () => capacity, isShared: () => false }),
    find: async (limit) => {
      limits.push(limit);
      return [];
    },
  });
  capacity = 3;
  await expect.poll(() => limits.length).toBeGreaterThan(1);
  expect(new Set(limits)).toEqual(new Set([3]));
});

test("an id in progress is not passed again", async () => {
  let looks = 0;
  const started: string[] = [];
  sweep({
    find: async () => {
      looks += 1;
      return [due("slow")];
    },
    handle: (id) => {
      started.push(id);
      return new Promise(() => undefined);
    },
  });
  await expect.poll(() => looks).toBeGreaterThan(3);
  expect(started).toEqual(["slow"]);
});

test("a sweeper that is told of new work looks at once, or right after the look in progress, and not after its stop", async () => {
  let looks = 0;
  let answer: (found: DueWork[]) => void = () => undefined;
  const { handled, sweeper } = sweep({
    everyMs: 60_000,
    find: () => {
      looks += 1;
      return new Promise((resolve) => (answer = resolve));
    },
  });
  sweeper.lookNow();
  expect(looks).toBe(1);
  answer([]);
  await expect.poll(() => looks).toBe(2);
  answer([due("first")]);
  await expect.poll(() => handled).toEqual(["first"]);
  sweeper.lookNow();
  expect(looks).toBe(3);
  answer([due("second")]);
  await expect.poll(() => handled).toEqual(["first", "second"]);
  await sweeper.stop();
  sweeper.lookNow();
  expect(looks).toBe(3);
});

test("a failed look and a failed handler are reported, and the next look follows", async () => {
  let looks = 0;
  const { errors } = sweep({
    find: async () => {
      looks += 1;
      if (looks === 1) throw new TypeError("no database");
      return [due("bad")];
    },
    handle: () => Promise.reject(new TypeError("no claim")),
  });
  await expect.poll(() => errors.map(String)).toEqual(["TypeError: no database", "TypeError: no claim"]);
});

test("stop waits for the look in progress, and no id is passed after it", async () => {
  let answer: (found: DueWork[]) => void = () => undefined;
  const { handled, sweeper } = sweep({ find: () => new Promise((resolve) => (answer = resolve)) });
  const stopped = sweeper.stop();
  answer([due("late")]);
  await stopped;
  expect(handled).toEqual([]);
});

test("a failed handler is reported with its id, a failed look without one", async () => {
  const reports: string[] = [];
  let looks = 0;
  sweep({
    find: async () => {
      looks += 1;
      if (looks === 1) throw new TypeError("no look");
      return [due("plan_1")];
    },
    handle: async () => {
      throw new TypeError("no claim");
    },
    onError: (error, id) => void reports.push(`${id}: ${String(error)}`),
  });
  await expect.poll(() => reports).toEqual(["undefined: TypeError: no look", "plan_1: TypeError: no claim"]);
});

test("a tenant that has its share of the slots is named in the next look, and gets no more", async () => {
  const left: (readonly string[])[] = [];
  const started: string[] = [];
  sweep({
    slots: createSlots({ max: 4, isShared: () => true }),
    find: async (_, full) => {
      left.push(full);
      return ["1", "2", "3", "4", "5"].map((id) => due(id, "a"));
    },
    handle: (id) => {
      started.push(id);
      return new Promise(() => undefined);
    },
  });
  await expect.poll(() => left.length).toBeGreaterThan(2);
  expect([started, left.slice(0, 3)]).toEqual([
    ["1", "2", "3"],
    [[], ["a"], ["a"]],
  ]);
});

test("found work begins through the gate of the process", async () => {
  const started: string[] = [];
  const begins: (() => void)[] = [];
  sweep({
    slots: createSlots({ max: 10, maxBeginning: 1, isShared: () => true }),
    find: async () => [due("plan_1"), due("plan_2")],
    handle: (id, _tenant, begun) => {
      started.push(id);
      begins.push(begun);
      return new Promise(() => undefined);
    },
  });
  await expect.poll(() => started).toEqual(["plan_1"]);
  begins[0]?.();
  await expect.poll(() => started).toEqual(["plan_1", "plan_2"]);
});

test("a sweeper stops at once while it waits until further work may begin", async () => {
  const slots = createSlots({ max: 10, maxBeginning: 1, isShared: () => true });
  const leave = await slots.enter();
  const { handled, sweeper } = sweep({ slots, find: async () => [due("plan_1")] });
  await new Promise(setImmediate);
  await sweeper.stop();
  leave();
  await new Promise(setImmediate);
  expect([handled, slots.enterNow()]).toEqual([[], expect.any(Function)]);
});
