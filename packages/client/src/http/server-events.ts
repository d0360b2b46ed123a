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
  for await (const { event = "message", data } of events) yield { event, data };
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
