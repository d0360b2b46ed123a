import { expect, test } from "vitest";
import { poll } from "./older-api.ts";

function counter() {
  let reads = 0;
  return async () => {
    reads += 1;
    return reads;
  };
}

test("poll reads until the value is final", async () => {
  expect(await poll(counter(), (value) => value === 3, { timeoutMs: 10_000 })).toBe(3);
});

test("poll returns the last value after the timeout", async () => {
  expect(await poll(counter(), () => false, { timeoutMs: 30 })).toBeGreaterThan(1);
});

test("poll with a timeout of zero reads once", async () => {
  expect(await poll(counter(), () => false, { timeoutMs: 0 })).toBe(1);
});

test("poll ends as soon as the signal is aborted", async () => {
  const controller = new AbortController();
  const read = counter();
  const waiting = poll(
    async () => {
      const value = await read();
      if (value === 2) controller.abort();
      return value;
    },
    () => false,
    { timeoutMs: 60_000, signal: controller.signal },
  );
  expect(await waiting).toBe(2);
});

test("poll rejects when a read fails", async () => {
  const failing = () => Promise.reject(new TypeError("read failed"));
  await expect(poll(failing, () => true, { timeoutMs: 1_000 })).rejects.toThrow("read failed");
});
