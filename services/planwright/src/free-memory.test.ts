import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { freeMemoryWhenIdle } from "./free-memory.ts";

/** Something that only garbage collection removes. */
const leftBehind = () => new WeakRef({ rows: Array.from({ length: 1_000 }, (_, index) => ({ index })) });

/** Works without a pause, longer than a look of the test would call idle. */
function work(): void {
  for (const until = performance.now() + 200; performance.now() < until; );
}

test("memory is given back once at the beginning of each idle time", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const look = () => vi.advanceTimersToNextTimer();
  freeMemoryWhenIdle();
  const first = leftBehind();
  work();
  look();
  await delay(1);
  expect(first.deref()).toBeDefined();

  await delay(500);
  look();
  await delay(1);
  expect(first.deref()).toBeUndefined();

  const second = leftBehind();
  await delay(500);
  look();
  await delay(1);
  expect(second.deref()).toBeDefined();
});
