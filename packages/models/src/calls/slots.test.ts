import { expect, test } from "vitest";
import { createSlots } from "./model-caller.ts";

const signal = new AbortController().signal;

test("a free slot goes to the waiting tenant that holds the fewest, then to the call that asked first", async () => {
  const slots = createSlots(2);
  const order: string[] = [];
  const releases: (() => void)[] = [];
  const ask = async (tenant: string, name: string): Promise<void> => {
    releases.push(await slots.acquire(signal, tenant));
    order.push(name);
  };
  const asked = [
    ask("a", "a1"),
    ask("a", "a2"),
    ask("a", "a3"),
    ask("b", "b1"),
    ask("a", "a4"),
    ask("b", "b2"),
  ];
  for (let ended = 0; ended < 4; ended += 1) {
    await expect.poll(() => releases.length).toBe(ended + 2);
    releases[ended]?.();
  }
  await Promise.all(asked);
  expect(order).toEqual(["a1", "a2", "b1", "a3", "b2", "a4"]);
});

test("a call that no longer waits gets no slot", async () => {
  const slots = createSlots(1);
  const release = await slots.acquire(signal, "a");
  const ending = new AbortController();
  const gone = slots.acquire(ending.signal, "b");
  const next = slots.acquire(signal, "a");
  ending.abort(new TypeError("gone"));
  await expect(gone).rejects.toThrow("gone");
  release();
  expect(await next).toBeTypeOf("function");
});
