import { expect, test } from "vitest";
import { OverloadedError } from "../errors/service-errors.ts";
import { createAdmission } from "./admission.ts";

const none = {
  maxPendingMutations: 2,
  maxPendingQueries: 1,
  maxUnfinishedPlans: 3,
  countUnfinished: async () => 0,
  random: () => 0.5,
};

test("mutations are admitted while there are slots, and the next one after a slot is released", () => {
  const { enter } = createAdmission(none);
  const leave = enter();
  enter();
  expect(enter).toThrow(OverloadedError);
  leave();
  leave();
  enter();
  expect(enter).toThrow(OverloadedError);
});

test("a refused caller gets a retry time, each a different one", () => {
  let drawn = 0;
  const { enter } = createAdmission({ ...none, maxPendingMutations: 0, random: () => drawn });
  const retryAfterMs = () => {
    try {
      enter();
      return null;
    } catch (error) {
      return error instanceof OverloadedError ? error.facts.retryAfterMs : null;
    }
  };
  expect(retryAfterMs()).toBe(500);
  drawn = 0.9;
  expect(retryAfterMs()).toBe(1_400);
});

test("plans are admitted up to the limit, including those admitted since the count", async () => {
  const { reserve } = createAdmission({ ...none, countUnfinished: async () => 1, now: () => 0 });
  await reserve();
  await settled();
  const answers = await Promise.allSettled([reserve(), reserve(), reserve(), reserve()]);
  // One plan was counted; it is unknown whether it is the one that was admitted before.
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
});

test("plans before the first count are admitted up to the limit", async () => {
  const { reserve } = createAdmission({ ...none, countUnfinished: async () => 3 });
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => reserve()));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test("no caller is refused because of a count older than a second, and there is one count a second", async () => {
  let time = 0;
  let found = 3;
  let counts = 0;
  const { reserve } = createAdmission({
    ...none,
    now: () => time,
    countUnfinished: async () => {
      counts += 1;
      return found;
    },
  });
  await reserve();
  await settled();
  await expect(reserve()).rejects.toBeInstanceOf(OverloadedError);
  found = 0;
  time = 999;
  await expect(reserve()).rejects.toBeInstanceOf(OverloadedError);
  expect(counts).toBe(1);
  time = 1_000;
  await expect(Promise.all([reserve(), reserve()])).resolves.toHaveLength(2);
  expect(counts).toBe(2);
});

test("a count that fails does not change the admission of plans", async () => {
  const { reserve } = createAdmission({
    ...none,
    countUnfinished: () => Promise.reject(new TypeError("away")),
  });
  await reserve();
  await settled();
  await reserve();
});

/** Waits until the work of this turn has ended. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
