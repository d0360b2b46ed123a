import type { RequestId } from "@planwright/plan";
import type { PlanHead, RequestDocument } from "@planwright/store";
import { expect, test, vi } from "vitest";
import { createMailbox, createRequestFeed } from "./request-feed.ts";

test("a reader gets the value that was put while it waits", async () => {
  const mailbox = createMailbox<number>(() => undefined);
  const next = mailbox.next();
  mailbox.put(1);
  expect(await next).toEqual({ done: false, value: 1 });
});

test("a slow reader gets only the newest value", async () => {
  const mailbox = createMailbox<number>(() => undefined);
  for (const value of [1, 2, 3]) mailbox.put(value);
  mailbox.end();
  const read: number[] = [];
  for await (const value of mailbox) read.push(value);
  expect(read).toEqual([3]);
});

test("a reader that leaves while it waits gets an end, and is reported once", async () => {
  const onClose = vi.fn<() => void>();
  const mailbox = createMailbox<number>(onClose);
  const next = mailbox.next();
  await mailbox.return?.();
  mailbox.put(1);
  expect(await next).toEqual({ done: true, value: undefined });
  expect(await mailbox.next()).toEqual({ done: true, value: undefined });
  expect(onClose).toHaveBeenCalledTimes(1);
});

test("an error comes once, after the value that was put before it", async () => {
  const mailbox = createMailbox<number>(() => undefined);
  mailbox.put(1);
  mailbox.fail(new TypeError("gone"));
  expect(await mailbox.next()).toEqual({ done: false, value: 1 });
  await expect(mailbox.next()).rejects.toThrow("gone");
  expect(await mailbox.next()).toEqual({ done: true, value: undefined });
});

test("a change of the plan during the first read of a request is read", async () => {
  const request = { planId: "plan_1", status: "EXECUTING" } as unknown as RequestDocument;
  let status = "RUNNING";
  const feed = createRequestFeed({
    store: {
      getRequest: async () => request,
      getPlanHeads: async () => [{ status } as PlanHead],
      listStepHeads: async () => {
        // After the read of the plan.
        status = "WAITING";
        if (feed.concerns("plan_1")) feed.refresh();
        return [];
      },
    },
    tenant: "t1",
    requestId: "req_1" as RequestId,
    onIdle: () => undefined,
  });
  const reader = feed.follow(() => undefined);
  expect((await reader.next()).value?.plan).toEqual({ status: "RUNNING" });
  expect((await reader.next()).value?.plan).toEqual({ status: "WAITING" });
  await reader.return?.();
});

test("a change of a new version of the plan, during the read that finds it, is read", async () => {
  let planId = "plan_1";
  let status = "FAILED";
  const feed = createRequestFeed({
    store: {
      getRequest: async () => ({ planId, status: "EXECUTING" }) as unknown as RequestDocument,
      getPlanHeads: async () => [{ status } as PlanHead],
      listStepHeads: async () => {
        // After the read of the plan.
        if (planId === "plan_2") status = "WAITING";
        if (planId === "plan_2" && feed.concerns("plan_2")) feed.refresh();
        return [];
      },
    },
    tenant: "t1",
    requestId: "req_1" as RequestId,
    onIdle: () => undefined,
  });
  const reader = feed.follow(() => undefined);
  expect((await reader.next()).value?.plan).toEqual({ status: "FAILED" });
  planId = "plan_2";
  status = "RUNNING";
  feed.refresh();
  expect((await reader.next()).value?.plan).toEqual({ status: "RUNNING" });
  expect((await reader.next()).value?.plan).toEqual({ status: "WAITING" });
  await reader.return?.();
});

test("a later reader, which may have seen a newer state elsewhere, is given what is read after it came", async () => {
  let status = "RUNNING";
  const feed = createRequestFeed({
    store: {
      getRequest: async () => ({ planId: "plan_1", status: "EXECUTING" }) as unknown as RequestDocument,
      getPlanHeads: async () => [{ status } as PlanHead],
      listStepHeads: async () => [],
    },
    tenant: "t1",
    requestId: "req_1" as RequestId,
    onIdle: () => undefined,
  });
  const first = feed.follow(() => undefined);
  expect((await first.next()).value?.plan).toEqual({ status: "RUNNING" });
  status = "WAITING";
  const second = feed.follow(() => undefined);
  expect((await second.next()).value?.plan).toEqual({ status: "WAITING" });
  await Promise.all([first.return?.(), second.return?.()]);
});
