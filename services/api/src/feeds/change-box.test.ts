import type { ChangedRequest } from "@planwright/store";
import { expect, test, vi } from "vitest";
import { createChangeBox, MAX_UNREAD, type RequestChange } from "./request-feed.ts";

const nothing = (): undefined => undefined;
const left = (name: string) => ({ kind: "LEFT", requestId: `req_1700000000_${name}` }) as const;
// The box does not read the request.
const changed = (name: string) => ({
  ...left(name),
  kind: "CHANGED" as const,
  changed: {} as ChangedRequest,
});

async function readAll(box: AsyncIterable<RequestChange>): Promise<string[]> {
  const read: string[] = [];
  for await (const change of box)
    read.push(`${change.kind} ${"requestId" in change ? change.requestId.slice(-1) : ""}`.trim());
  return read;
}

test("a reader gets READ_LIST first, then the changes in order", async () => {
  const box = createChangeBox(nothing, nothing);
  box.put(changed("a"));
  box.put(left("b"));
  box.end();
  expect(await readAll(box)).toEqual(["READ_LIST", "CHANGED a", "LEFT b"]);
});

test("a slow reader gets only the newest change of each request", async () => {
  const box = createChangeBox(nothing, nothing);
  for (const change of [changed("a"), changed("b"), changed("b"), left("a")]) box.put(change);
  box.end();
  expect(await readAll(box)).toEqual(["READ_LIST", "LEFT a", "CHANGED b"]);
});

test("a reader that is too slow gets READ_LIST again, and then later changes", async () => {
  const onReadList = vi.fn<() => void>();
  const box = createChangeBox(onReadList, nothing);
  expect((await box.next()).value).toEqual({ kind: "READ_LIST" });
  for (let index = 0; index <= MAX_UNREAD; index++) box.put(changed(`x${index}`));
  expect(onReadList).toHaveBeenCalledTimes(1);
  box.put(left("z"));
  box.end();
  expect(await readAll(box)).toEqual(["READ_LIST", "LEFT z"]);
});

test("a reader that leaves while it waits gets an end, and is reported once", async () => {
  const onClose = vi.fn<() => void>();
  const box = createChangeBox(nothing, onClose);
  await box.next();
  const next = box.next();
  await box.return?.();
  box.put(changed("a"));
  expect(await next).toEqual({ done: true, value: undefined });
  expect(await box.next()).toEqual({ done: true, value: undefined });
  expect(onClose).toHaveBeenCalledTimes(1);
});
