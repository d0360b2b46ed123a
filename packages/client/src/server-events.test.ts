import { expect, onTestFinished, test } from "vitest";
import { type ServerEvent, serverEvents } from "./transport.ts";

/** A stream of two events that stays open; `state` says whether its reader closed it. */
function openStream() {
  const state = { isClosed: false };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('event: next\ndata: {"a":1}\n\ndata: two\n\n'));
    },
    cancel() {
      state.isClosed = true;
    },
  });
  return { body, state };
}

/** Removes the iterator of streams, which Safari before 26.4 lacks, until the test ends. */
function withoutIterableStreams(): void {
  const before = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator);
  if (!before) throw new TypeError("this platform has no iterable streams");
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator);
  onTestFinished(() => void Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, before));
}

test("events are read in browsers without iterable streams, and a reader that stops early closes the connection", async () => {
  withoutIterableStreams();
  const { body, state } = openStream();
  const seen: ServerEvent[] = [];
  for await (const event of serverEvents(body, 10_000)) {
    seen.push(event);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([
    { event: "next", data: '{"a":1}' },
    { event: "message", data: "two" },
  ]);
  await expect.poll(() => state.isClosed).toBe(true);
});

test("a stream that is silent for too long fails with an error", async () => {
  const events = serverEvents(openStream().body, 50);
  await events.next();
  await events.next();
  await expect(events.next()).rejects.toThrow("it was silent for 0.05 s");
});

test("a reader that takes long over an event does not make the stream silent", async () => {
  let timer: NodeJS.Timeout | undefined;
  onTestFinished(() => clearInterval(timer));
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
      send("data: one\n\n");
      timer = setInterval(() => send(": heartbeat\n\n"), 10);
      setTimeout(() => send("data: two\n\n"), 500);
    },
  });
  const events = serverEvents(body, 100);
  expect((await events.next()).value?.data).toBe("one");
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect((await events.next()).value?.data).toBe("two");
  await events.return(undefined);
});
