import { expect, onTestFinished, test } from "vitest";
import { createSweeper, type SweeperOptions } from "./sweeper.ts";

function sweep(options: Partial<SweeperOptions>) {
  const handled: string[] = [];
  const errors: unknown[] = [];
  const sweeper = createSweeper({
    everyMs: 1,
    find: async () => [],
    capacity: () => 10,
    handle: async (id) => void handled.push(id),
    onError: (error) => void errors.push(error),
    ...options,
  });
  onTestFinished(() => sweeper.stop());
  return { handled, errors, sweeper };
}

test("a sweeper passes the ids that it finds to the handler, again at each look", async () => {
  const { handled } = sweep({ find: async () => ["plan_1"] });
  await expect.poll(() => handled.length).toBeGreaterThan(2);
});

test("a sweeper asks for at most its capacity, and does not look without capacity", async () => {
  const limits: number[] = [];
  let capacity = 0;
  sweep({
    capacity: () => capacity,
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
      return ["slow"];
    },
    handle: (id) => {
      started.push(id);
      return new Promise(() => undefined);
    },
  });
  await expect.poll(() => looks).toBeGreaterThan(3);
  expect(started).toEqual(["slow"]);
});

test("a failed look and a failed handler are reported, and the next look follows", async () => {
  let looks = 0;
  const { errors } = sweep({
    find: async () => {
      looks += 1;
      if (looks === 1) throw new TypeError("no database");
      return ["bad"];
    },
    handle: () => Promise.reject(new TypeError("no claim")),
  });
  await expect.poll(() => errors.map(String)).toEqual(["TypeError: no database", "TypeError: no claim"]);
});

test("stop waits for the look in progress, and no id is passed after it", async () => {
  let answer: (ids: string[]) => void = () => undefined;
  const { handled, sweeper } = sweep({ find: () => new Promise((resolve) => (answer = resolve)) });
  const stopped = sweeper.stop();
  answer(["late"]);
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
      return ["plan_1"];
    },
    handle: async () => {
      throw new TypeError("no claim");
    },
    onError: (error, id) => void reports.push(`${id}: ${String(error)}`),
  });
  await expect.poll(() => reports).toEqual(["undefined: TypeError: no look", "plan_1: TypeError: no claim"]);
});
