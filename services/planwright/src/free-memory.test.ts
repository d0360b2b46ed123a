import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { freeMemoryWhenIdle } from "./free-memory.ts";

/** Something that only garbage collection removes. */
const leftBehind = () => new WeakRef({ rows: Array.from({ length: 1_000 }, (_, index) => ({ index })) });

test("memory is given back once at the beginning of each idle time", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let utilization = 0.5;
  freeMemoryWhenIdle(() => ({ idle: 0, active: 0, utilization }));
  const look = async () => {
    vi.advanceTimersToNextTimer();
    await nextTurn();
  };
  const first = leftBehind();
  await look();
  expect(first.deref()).toBeDefined();

  await nextTurn();
  utilization = 0.05;
  await look();
  expect(first.deref()).toBeUndefined();

  const second = leftBehind();
  await nextTurn();
  await look();
  expect(second.deref()).toBeDefined();
});
