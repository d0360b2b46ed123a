import { expect, test } from "vitest";
import { createVirtualClock } from "./clock.ts";

test("timers fire in order of time, then of creation", async () => {
  const clock = createVirtualClock(1_000);
  const seen: string[] = [];
  clock.at(1_020, () => seen.push(`b at ${clock.now()}`));
  clock.at(1_010, () => seen.push(`a at ${clock.now()}`));
  clock.at(1_020, () => seen.push(`c at ${clock.now()}`));
  await clock.sleep(30);
  expect(seen).toEqual(["a at 1010", "b at 1020", "c at 1020"]);
  expect(clock.now()).toBe(1_030);
});

test("a cancelled timer does not move the time", async () => {
  const clock = createVirtualClock();
  clock.at(3_600_000, () => {})();
  await clock.sleep(5);
  await new Promise<void>((resolve) => clock.soon(resolve));
  expect(clock.now()).toBe(5);
});

test("a `soon` callback runs before time moves", async () => {
  const clock = createVirtualClock();
  const seen: number[] = [];
  clock.at(10, () => seen.push(clock.now()));
  clock.soon(() => seen.push(clock.now()));
  await clock.sleep(20);
  expect(seen).toEqual([0, 10]);
});

test("no time passes while the clock is held, and what is due at once still runs", async () => {
  const clock = createVirtualClock();
  const seen: string[] = [];
  const [release, other] = [clock.hold(), clock.hold()];
  clock.at(10, () => seen.push(`timer at ${clock.now()}`));
  await new Promise<void>((resolve) => clock.soon(resolve));
  release();
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
  other();
  await clock.sleep(10);
  expect(seen).toEqual(["timer at 10"]);
});
