import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startPace } from "./play-out.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a time is reached at that time, or later by as much as the clock was stopped", async () => {
  let isBehind = false;
  const pace = startPace(() => isBehind);
  const reached: string[] = [];
  for (const atMs of [0, 1_000, 2_000]) void pace.until(atMs).then(() => reached.push(`${atMs}`));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reached).toEqual(["0", "1000"]);
  isBehind = true;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reached).toEqual(["0", "1000"]);
  isBehind = false;
  await vi.advanceTimersByTimeAsync(999);
  expect(reached).toEqual(["0", "1000"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(reached).toEqual(["0", "1000", "2000"]);
  expect(pace.heldMs()).toBe(5_000);
  pace.stop();
});
