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

test("as many mutations as there are places are let in, and the next when one is done", () => {
  const { enter } = createAdmission(none);
  const leave = enter();
  enter();
  expect(enter).toThrow(OverloadedError);
  leave();
  leave();
  enter();
  expect(enter).toThrow(OverloadedError);
});

test("who is refused hears when to come back, each at another time", () => {
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

test("plans are let in up to the limit, those let in since the count included", async () => {
  const { reserve } = createAdmission({ ...none, countUnfinished: async () => 1, now: () => 0 });
  await reserve();
  await settled();
  const answers = await Promise.allSettled([reserve(), reserve(), reserve(), reserve()]);
  // One was counted, and it is unknown whether it is the one that was let in before.
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
});

test("many that come before the first count are let in up to the limit", async () => {
  const { reserve } = createAdmission({ ...none, countUnfinished: async () => 3 });
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => reserve()));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test("no caller is refused by a count older than a second, and a second asks once", async () => {
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

test("a count that fails lets plans in as before", async () => {
  const { reserve } = createAdmission({
    ...none,
    countUnfinished: () => Promise.reject(new TypeError("away")),
  });
  await reserve();
  await settled();
  await reserve();
});

/** Lets what is under way in this turn end. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
