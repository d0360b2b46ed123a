import type { EventSourceMessage } from "eventsource-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";

/** One event of a stream. */
export interface ServerEvent {
  event: string;
  data: string;
}

/**
 * The events of a response, in order, until it ends.
 * @param silenceMs - longest time without a byte; the server sends comments as signs of life
 * @throws {TypeError} or the error of the connection, when it breaks off or is silent for too long
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  silenceMs: number,
): AsyncGenerator<ServerEvent> {
  const events = body
    .pipeThrough(endOnSilence(silenceMs))
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  yield* eventsOf(events.getReader());
}

/**
 * A stream can be iterated over in browsers of 2025 and later only (Safari 26.4); a reader is in all of them.
 */
async function* eventsOf(reader: ReadableStreamDefaultReader<EventSourceMessage>) {
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { event = "message", data } = read.value;
      yield { event, data };
    }
  } finally {
    // A consumer that stops early closes the connection. A stream that broke off says so by read().
    await reader.cancel().catch(() => undefined);
  }
}

/** Passes everything on, and fails after a silence: a dead connection reports no error by itself. */
function endOnSilence<T>(silenceMs: number): TransformStream<T, T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  function expect(controller: TransformStreamDefaultController<T>): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      controller.error(new TypeError(`it was silent for ${silenceMs / 1_000} s`));
    }, silenceMs);
    // A browser's timer is a number; one of Node must not keep the process alive.
    if (typeof timer === "object") timer.unref();
  }
  return new TransformStream<T, T>({
    start: expect,
    transform(chunk, controller) {
      expect(controller);
      controller.enqueue(chunk);
    },
    flush: () => clearTimeout(timer),
  });
}
