import { type JSONRPCMessage, ReadBuffer } from "@modelcontextprotocol/client";
import { UnreadableAnswerError } from "./errors.ts";
import type { TraceOf } from "./take-answer.ts";
import { readMessages } from "./wire-messages.ts";

const NEWLINE = 10;
/** The line that begins the header of a framed message, as in the Language Server Protocol. */
const CONTENT_LENGTH = /^content-length\s{0,9}:\s{0,9}(\d{1,12})$/i;
const HEADER_LINE = /^[A-Za-z-]{1,64}\s{0,9}:/;
/** Where a message begins in a line that begins with other text. */
const MESSAGE_START = /\{\s{0,9}"(?:jsonrpc|id|result|error|method)"\s{0,9}:/;

/** What the buffer reports beside messages. */
export interface MessageBufferOptions {
  /** Largest message, in bytes; a larger one ends the connection. */
  maxBytes: number;
  /** The id of the request that waits for an answer, if there is exactly one. */
  onlyWaiting: () => string | number | undefined;
  traceOf: TraceOf;
  /** A line that cannot be read; it may be the answer to a request, or anything else that was printed. */
  onUnreadable: (error: UnreadableAnswerError, text: string) => void;
}

/**
 * The messages in the standard output of a server's process: one a line, as the protocol says, or in frames
 * with Content-Length. A byte order mark, and text that precedes a message in its line, are skipped.
 */
export class MessageBuffer extends ReadBuffer {
  readonly #options: MessageBufferOptions;
  /** The bytes of the line or frame that is not complete. */
  #pieces: Buffer[] = [];
  #size = 0;
  readonly #messages: JSONRPCMessage[] = [];
  /** Bytes of the frame whose header was read; undefined between frames and for lines. */
  #frameBytes: number | undefined;
  /** The Content-Length of a header whose end was not read yet. */
  #header: number | undefined;

  constructor(options: MessageBufferOptions) {
    super();
    this.#options = options;
  }

  /** @throws {RangeError} for a message that is too large: what follows it cannot be read either */
  override append(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const isFrame = this.#frameBytes !== undefined && this.#isFrameBegun(rest);
      const end = isFrame ? (this.#frameBytes ?? 0) - this.#size : rest.indexOf(NEWLINE) + 1;
      if (end === 0 || end > rest.length) {
        this.#keep(rest);
        return;
      }
      this.#keep(rest.subarray(0, end));
      rest = rest.subarray(end);
      const text = Buffer.concat(this.#pieces, this.#size).toString("utf8");
      this.#pieces = [];
      this.#size = 0;
      this.#frameBytes = undefined;
      this.#take(text.trim()); // which also removes a byte order mark
    }
  }

  override readMessage(): JSONRPCMessage | null {
    return this.#messages.shift() ?? null;
  }

  override clear(): void {
    this.#pieces = [];
    this.#size = 0;
    this.#messages.length = 0;
    this.#frameBytes = undefined;
    this.#header = undefined;
  }

  /** A frame begins like JSON: a header with a length in printed text is followed by anything. */
  #isFrameBegun(rest: Buffer): boolean {
    if (this.#size > 0 || rest[0] === 0x7b || rest[0] === 0x5b) return true;
    this.#frameBytes = undefined;
    return false;
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length;
    const { maxBytes } = this.#options;
    if (this.#size > maxBytes || (this.#frameBytes ?? 0) > maxBytes) {
      this.clear();
      throw new RangeError(`A message of the server is larger than ${maxBytes} bytes`);
    }
    this.#pieces.push(bytes);
  }

  /** Takes a line or frame without the blanks around it. */
  #take(text: string): void {
    const length = CONTENT_LENGTH.exec(text)?.[1];
    if (length !== undefined) {
      this.#header = Number(length);
      return;
    }
    if (this.#header !== undefined) {
      if (HEADER_LINE.test(text)) return;
      if (text === "" && this.#header > 0) this.#frameBytes = this.#header;
      this.#header = undefined;
    }
    if (text !== "") this.#read(text);
  }

  #read(text: string): void {
    const { onlyWaiting, traceOf, onUnreadable } = this.#options;
    try {
      const { messages } = readMessages(text, traceOf, onlyWaiting());
      // The Client of the SDK drops what is not a message.
      this.#messages.push(...(messages as JSONRPCMessage[]));
    } catch (error) {
      const start = MESSAGE_START.exec(text)?.index ?? 0;
      if (start > 0) {
        onUnreadable(new UnreadableAnswerError("has text before a message", text), text.slice(0, start));
        this.#read(text.slice(start));
      } else if (error instanceof UnreadableAnswerError) onUnreadable(error, text);
    }
  }
}
