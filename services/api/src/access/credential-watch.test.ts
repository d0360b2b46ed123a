import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCredentialWatch } from "./credential-watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A watch over keys, of which the given ones are valid. */
function watched(...valid: string[]) {
  const lookups: string[][] = [];
  const logged: string[] = [];
  const keys = new Set(valid);
  let isAway = false;
  const log = (_facts: object, message: string) => void logged.push(message);
  const watch = createCredentialWatch({
    store: {
      findValidKeys: async (ids) => {
        lookups.push([...ids]);
        if (isAway) throw new TypeError("away");
        return new Set(ids.filter((id) => keys.has(id)));
      },
    },
    logger: { info: log, warn: log, error: log },
    everyMs: 5_000,
  });
  return { watch, lookups, logged, keys, setAway: (away: boolean) => void (isAway = away) };
}

const key = (keyId: string) => ({ keyId, expiresAt: null });

test("a thousand holders of two keys cost one read in each interval, and those of a revoked key are notified once", async () => {
  const { watch, lookups, keys } = watched("a", "b");
  const notified = { a: 0, b: 0 };
  for (let made = 0; made < 500; made += 1) {
    watch.follow(key("a"), () => void notified.a++);
    watch.follow(key("b"), () => void notified.b++);
  }
  await vi.advanceTimersByTimeAsync(5_000);
  expect([lookups.length, notified]).toEqual([1, { a: 0, b: 0 }]);
  keys.delete("a");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(notified).toEqual({ a: 500, b: 0 });
  expect(lookups).toEqual([["a", "b"], ["a", "b"], ["b"], ["b"], ["b"]]);
});

test("nothing is read after every client has left, and reads resume when a client comes", async () => {
  const { watch, lookups } = watched("a");
  const leave = watch.follow(key("a"), () => expect.unreachable("the key is valid"));
  leave();
  leave();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(lookups).toEqual([]);
  watch.follow(key("a"), () => expect.unreachable("the key is valid"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lookups).toEqual([["a"]]);
});

test("a caller without a credential is neither looked up nor notified", async () => {
  const { watch, lookups } = watched();
  watch.follow({ keyId: null, expiresAt: null }, () => expect.unreachable("there is nothing to end"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lookups).toEqual([]);
});

test("while keys cannot be looked up no client is notified, and the look-up is repeated", async () => {
  const { watch, logged, setAway } = watched();
  let notified = 0;
  watch.follow(key("a"), () => void notified++);
  setAway(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([notified, logged.length]).toEqual([0, 2]);
  setAway(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(notified).toBe(1);
});

test.each([
  ["in 90 s", 90_000],
  ["in two months, which is more than a timer can wait", 5_184_000_000],
])(
  "a credential that expires %s is reported then, not earlier, and not to a client that has left",
  async (_when, leftMs) => {
    const { watch } = watched();
    const expiresAt = new Date(Date.now() + leftMs);
    let notified = 0;
    watch.follow({ keyId: null, expiresAt }, () => void notified++);
    const leave = watch.follow({ keyId: null, expiresAt }, () => expect.unreachable("it has left"));
    leave();
    await vi.advanceTimersByTimeAsync(leftMs - 1);
    expect(notified).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(notified).toBe(1);
  },
);

test("an expired credential is reported at once", async () => {
  const { watch } = watched();
  let notified = 0;
  watch.follow({ keyId: null, expiresAt: new Date(Date.now() - 1) }, () => void notified++);
  await vi.advanceTimersByTimeAsync(0);
  expect(notified).toBe(1);
});
