import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { readAtMostOnceASecond } from "./fleet-view.ts";

test("a result is used for a second, and one in which something is missing for a shorter time", async () => {
  let count = 0;
  const read = readAtMostOnceASecond(
    async () => (count += 1),
    (value) => value === 1,
  );
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  await delay(120);
  expect(await read()).toBe(2);
  await delay(120);
  expect(await read()).toBe(2);
});

test("a failure is read again by the next caller", async () => {
  let count = 0;
  const read = readAtMostOnceASecond(async () => {
    count += 1;
    if (count === 1) throw new RangeError("away");
    return count;
  });
  await expect(read()).rejects.toThrow("away");
  expect(await read()).toBe(2);
});
