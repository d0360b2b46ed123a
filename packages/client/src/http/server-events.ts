import type { EventSourceMessage } from "eventsource-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";

/** One event of a stream. */
export interface ServerEvent {
  event: string;
  data: string;
}

/**
 * The events of a response, in order, until it ends.
 * @param silenceMs - longest time without a byte; the server sends comments as heartbeats
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

/** Reads by a reader, because older browsers (Safari before 26.4) have no iterable streams. */
async function* eventsOf(reader: ReadableStreamDefaultReader<EventSourceMessage>) {
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { event = "message", data } = read.value;
      yield { event, data };
    }
  } finally {
    // A consumer that stops early closes the connection. A broken stream makes read() reject.
    await reader.cancel().catch(() => undefined);
  }
}

/** Passes all bytes on, and fails after a silence: a dead connection reports no error. */
function endOnSilence<T>(silenceMs: number): TransformStream<T, T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  function restartTimer(controller: TransformStreamDefaultController<T>): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      controller.error(new TypeError(`it was silent for ${silenceMs / 1_000} s`));
    }, silenceMs);
    // In browsers a timer is a number; in Node it must not keep the process alive.
    if (typeof timer === "object") timer.unref();
  }
  return new TransformStream<T, T>({
    start: restartTimer,
    transform(chunk, controller) {
      restartTimer(controller);
      controller.enqueue(chunk);
    },
    flush: () => clearTimeout(timer),
  });
}
