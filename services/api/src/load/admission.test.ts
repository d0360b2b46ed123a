import { expect, test } from "vitest";
import { OverloadedError } from "../errors/api-error.ts";
import { createAdmission } from "./admission.ts";

const none = {
  maxPendingMutations: 2,
  maxPendingQueries: 1,
  maxUnfinishedPlans: 3,
  maxUnfinishedPlansOf: async () => 10,
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
  await reserve("a");
  await settled();
  const answers = await Promise.allSettled([reserve("a"), reserve("a"), reserve("a"), reserve("a")]);
  // One plan was counted; it is unknown whether it is the one that was admitted before.
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
});

test("plans before the first count are admitted up to the limit", async () => {
  const { reserve } = createAdmission({ ...none, countUnfinished: async () => 3 });
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => reserve("a")));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
});

test("no caller is refused because of a count older than a second, and there is one count a second", async () => {
  let time = 0;
  let found = 3;
  let counts = 0;
  const { reserve } = createAdmission({
    ...none,
    now: () => time,
    countUnfinished: async (_limit, tenant) => {
      if (tenant !== undefined) return 0;
      counts += 1;
      return found;
    },
  });
  await reserve("a");
  await settled();
  await expect(reserve("a")).rejects.toBeInstanceOf(OverloadedError);
  found = 0;
  time = 999;
  await expect(reserve("a")).rejects.toBeInstanceOf(OverloadedError);
  expect(counts).toBe(1);
  time = 1_000;
  await expect(Promise.all([reserve("a"), reserve("a")])).resolves.toHaveLength(2);
  expect(counts).toBe(2);
});

test("the plans of one tenant are refused at its limit, which the refusal names, and others are admitted", async () => {
  const { reserve } = createAdmission({
    ...none,
    maxUnfinishedPlans: 100,
    maxUnfinishedPlansOf: async (tenant) => (tenant === "a" ? 2 : 10),
    countUnfinished: async (_limit, tenant) => (tenant === "a" || tenant === undefined ? 2 : 0),
  });
  await expect(reserve("b")).resolves.toBeUndefined();
  await reserve("a");
  await settled();
  await expect(reserve("a")).rejects.toThrow(
    "3 plans of the tenant a are unfinished, and its limit max-unfinished-plans is 2",
  );
  await expect(reserve("b")).resolves.toBeUndefined();
});

test("a count that fails does not change the admission of plans", async () => {
  const { reserve } = createAdmission({
    ...none,
    countUnfinished: () => Promise.reject(new TypeError("away")),
  });
  await reserve("a");
  await settled();
  await reserve("a");
});

/** Waits until the work of this turn has ended. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
