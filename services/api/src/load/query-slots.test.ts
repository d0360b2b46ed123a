import { expect, test } from "vitest";
import { OverloadedError } from "../errors/api-error.ts";
import { createQuerySlots } from "./admission.ts";

const LONG_MS = 60_000;
const A = { tenant: "a" };
const B = { tenant: "b" };

/** Waits until all due callbacks have run, except timers. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The order in which callers get their slots, and the functions that release them. */
function queue() {
  const entered: string[] = [];
  const leave = new Map<string, () => void>();
  const note = (name: string, slot: Promise<() => void>) =>
    void slot.then((release) => {
      entered.push(name);
      leave.set(name, release);
    });
  return { entered, note, leave: (name: string) => leave.get(name)?.() };
}

test("as many queries as there are slots run at once, and the others in order", async () => {
  const { enter } = createQuerySlots({ maxRunning: 2, waitMs: LONG_MS });
  const { entered, note, leave } = queue();
  for (const name of ["1", "2", "3", "4"]) note(name, enter(A));
  await settled();
  expect(entered).toEqual(["1", "2"]);
  leave("2");
  // A second release of a slot has no effect.
  leave("2");
  await settled();
  expect(entered).toEqual(["1", "2", "3"]);
  leave("1");
  await settled();
  expect(entered).toEqual(["1", "2", "3", "4"]);
});

test("a tenant with many waiting queries does not delay another tenant", async () => {
  const { enter } = createQuerySlots({ maxRunning: 2, waitMs: LONG_MS });
  const { entered, note, leave } = queue();
  for (const name of ["a1", "a2", "a3", "a4"]) note(name, enter(A));
  note("b1", enter(B));
  await settled();
  leave("a1");
  await settled();
  expect(entered).toEqual(["a1", "a2", "b1"]);
  leave("a2");
  await settled();
  leave("b1");
  await settled();
  expect(entered).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

test("a caller whose wait timed out is refused, counted, and gets a retry time", async () => {
  const refused: string[] = [];
  const { enter } = createQuerySlots({
    maxRunning: 1,
    waitMs: 1,
    random: () => 0.5,
    metrics: { refused: (reason) => refused.push(reason) },
  });
  const leave = await enter(A);
  const error: unknown = await enter(A).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OverloadedError);
  expect(error).toMatchObject({ facts: { retryAfterMs: 1_000 } });
  expect(refused).toEqual(["queries"]);
  leave();
  await expect(enter(A)).resolves.toBeTypeOf("function");
});

test("a caller that disconnects leaves the queue and is not counted as refused", async () => {
  const refused: string[] = [];
  const { enter } = createQuerySlots({
    maxRunning: 1,
    waitMs: LONG_MS,
    metrics: { refused: (reason) => refused.push(reason) },
  });
  const { entered, note, leave } = queue();
  note("1", enter(A));
  const disconnected = new AbortController();
  const dropped = enter({ ...A, signal: disconnected.signal });
  note("3", enter(A));
  disconnected.abort();
  await expect(dropped).rejects.toThrow(OverloadedError);
  await expect(enter({ ...A, signal: disconnected.signal })).rejects.toThrow(OverloadedError);
  leave("1");
  await settled();
  expect(entered).toEqual(["1", "3"]);
  expect(refused).toEqual([]);
});

test("the number of waiting callers is limited", async () => {
  const { enter } = createQuerySlots({ maxRunning: 1, maxWaiting: 1, waitMs: LONG_MS });
  const leave = await enter(A);
  const waiting = enter(B);
  await expect(enter(A)).rejects.toThrow("1 queries are running and 1 wait");
  leave();
  await expect(waiting).resolves.toBeTypeOf("function");
});
