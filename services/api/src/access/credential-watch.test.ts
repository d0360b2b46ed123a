import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCredentialWatch } from "./credential-watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A watch over keys of which some are valid. */
function watched(...valid: string[]) {
  const asked: string[][] = [];
  const logged: string[] = [];
  const keys = new Set(valid);
  let isAway = false;
  const log = (_facts: object, message: string) => void logged.push(message);
  const watch = createCredentialWatch({
    store: {
      findValidKeys: async (ids) => {
        asked.push([...ids]);
        if (isAway) throw new TypeError("away");
        return new Set(ids.filter((id) => keys.has(id)));
      },
    },
    logger: { info: log, warn: log, error: log },
    everyMs: 5_000,
  });
  return { watch, asked, logged, keys, setAway: (away: boolean) => void (isAway = away) };
}

const key = (keyId: string) => ({ keyId, expiresAt: null });

test("a thousand holders of two keys cost one read in each interval, and those of a revoked one are told once", async () => {
  const { watch, asked, keys } = watched("a", "b");
  const told = { a: 0, b: 0 };
  for (let made = 0; made < 500; made += 1) {
    watch.follow(key("a"), () => void told.a++);
    watch.follow(key("b"), () => void told.b++);
  }
  await vi.advanceTimersByTimeAsync(5_000);
  expect([asked.length, told]).toEqual([1, { a: 0, b: 0 }]);
  keys.delete("a");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(told).toEqual({ a: 500, b: 0 });
  expect(asked).toEqual([["a", "b"], ["a", "b"], ["b"], ["b"], ["b"]]);
});

test("nothing is read once every client has left, and again when one comes", async () => {
  const { watch, asked } = watched("a");
  const leave = watch.follow(key("a"), () => expect.unreachable("the key is valid"));
  leave();
  leave();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked).toEqual([]);
  watch.follow(key("a"), () => expect.unreachable("the key is valid"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked).toEqual([["a"]]);
});

test("a caller without a credential is neither looked up nor told", async () => {
  const { watch, asked } = watched();
  watch.follow({ keyId: null, expiresAt: null }, () => expect.unreachable("there is nothing to end"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual([]);
});

test("while keys cannot be looked up no client is told, and they are looked up again", async () => {
  const { watch, logged, setAway } = watched();
  let told = 0;
  watch.follow(key("a"), () => void told++);
  setAway(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([told, logged.length]).toEqual([0, 2]);
  setAway(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(told).toBe(1);
});

test.each([
  ["in 90 s", 90_000],
  ["in two months, which is more than a timer can wait", 5_184_000_000],
])("what expires %s is told then, not before, and not to who has left", async (_when, leftMs) => {
  const { watch } = watched();
  const expiresAt = new Date(Date.now() + leftMs);
  let told = 0;
  watch.follow({ keyId: null, expiresAt }, () => void told++);
  const leave = watch.follow({ keyId: null, expiresAt }, () => expect.unreachable("it has left"));
  leave();
  await vi.advanceTimersByTimeAsync(leftMs - 1);
  expect(told).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toBe(1);
});

test("what has expired already is told at once", async () => {
  const { watch } = watched();
  let told = 0;
  watch.follow({ keyId: null, expiresAt: new Date(Date.now() - 1) }, () => void told++);
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toBe(1);
});
