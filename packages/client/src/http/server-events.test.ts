import { expect, onTestFinished, test } from "vitest";
import { type ServerEvent, serverEvents } from "./server-events.ts";

/** A stream of two events that stays open, and whether it was closed by its reader. */
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

/** Takes away what Safari before 26.4 does not have, until the test ends. */
function withoutIterableStreams(): void {
  const before = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator);
  if (!before) throw new TypeError("this platform has no iterable streams");
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator);
  onTestFinished(() => void Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, before));
}

test("events are read where streams cannot be iterated over, and leaving early closes the connection", async () => {
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

test("a stream that is silent for too long fails", async () => {
  const events = serverEvents(openStream().body, 50);
  await events.next();
  await events.next();
  await expect(events.next()).rejects.toThrow("it was silent for 0.05 s");
});
