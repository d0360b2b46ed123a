import { expect, test, vi } from "vitest";
import { createMailbox } from "./mailbox.ts";

test("a reader gets what was put while it waits", async () => {
  const mailbox = createMailbox<number>(() => undefined);
  const next = mailbox.next();
  mailbox.put(1);
  expect(await next).toEqual({ done: false, value: 1 });
});

test("a slow reader gets the newest value alone", async () => {
  const mailbox = createMailbox<number>(() => undefined);
  for (const value of [1, 2, 3]) mailbox.put(value);
  mailbox.end();
  const read: number[] = [];
  for await (const value of mailbox) read.push(value);
  expect(read).toEqual([3]);
});

test("a reader that goes away while it waits is answered, and heard of once", async () => {
  const onClose = vi.fn<() => void>();
  const mailbox = createMailbox<number>(onClose);
  const next = mailbox.next();
  await mailbox.return?.();
  mailbox.put(1);
  expect(await next).toEqual({ done: true, value: undefined });
  expect(await mailbox.next()).toEqual({ done: true, value: undefined });
  expect(onClose).toHaveBeenCalledTimes(1);
});

test("an error comes after what was put before it, once", async () => {
  const mailbox = createMailbox<number>(() => undefined);
  mailbox.put(1);
  mailbox.fail(new TypeError("gone"));
  expect(await mailbox.next()).toEqual({ done: false, value: 1 });
  await expect(mailbox.next()).rejects.toThrow("gone");
  expect(await mailbox.next()).toEqual({ done: true, value: undefined });
});
