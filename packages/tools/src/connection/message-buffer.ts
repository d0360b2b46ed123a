import { stripVTControlCharacters } from "node:util";
import { type JSONRPCMessage, ReadBuffer } from "@modelcontextprotocol/client";
import { LARGE_JSON_BYTES } from "@planwright/plan";
import type { TraceOf } from "./call-trace.ts";
import { UnreadableAnswerError } from "./errors.ts";
import { beginningOf, type ReadLargeMessages } from "./large-answer.ts";
import { readMessages } from "./wire-messages.ts";

const NEWLINE = 10;
const CLOSING_BRACE = 0x7d;
/** Longest message that is looked for without the end of its line, in bytes. */
const MAX_UNENDED = 65_536;
/** The line that begins the header of a framed message, as in the Language Server Protocol. */
const CONTENT_LENGTH = /^content-length\s{0,9}:\s{0,9}(\d{1,12})$/i;
const HEADER_LINE = /^[A-Za-z-]{1,64}\s{0,9}:/;
/** Where a message begins in a line that begins with other text. */
const MESSAGE_START = /\{\s{0,9}"(?:jsonrpc|id|result|error|method)"\s{0,9}:/;

/** What the buffer reports beside messages. */
interface MessageBufferOptions {
  /** Largest message, in bytes; a larger one ends the connection. */
  maxBytes: number;
  /** The id of the request that waits for an answer, if there is exactly one. */
  onlyWaiting: () => string | number | undefined;
  traceOf: TraceOf;
  /** A line that cannot be read; it may be the answer to a request, or anything else that was printed. */
  onUnreadable: (error: UnreadableAnswerError, text: string) => void;
  /** Reads messages of more than 256 KiB. */
  readLarge: ReadLargeMessages;
  /** Gets the messages that {@link MessageBufferOptions.readLarge} read. */
  deliver: (message: JSONRPCMessage) => void;
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
        if (!isFrame) this.#takeUnended();
        return;
      }
      this.#keep(rest.subarray(0, end));
      rest = rest.subarray(end);
      const pieces = this.#pieces;
      const isLarge = this.#size > LARGE_JSON_BYTES && isObjectText(pieces) && this.#header === undefined;
      this.#pieces = [];
      this.#size = 0;
      if (isLarge) {
        this.#frameBytes = undefined;
        this.#readLarge(pieces);
        continue;
      }
      const bytes = Buffer.concat(pieces);
      const text = bytes.toString("utf8").trim(); // which also removes a byte order mark
      this.#frameBytes = undefined;
      // A length in printed text may also be followed by a message on a line of its own.
      if (isFrame && !/[}\]]$/.test(text)) rest = Buffer.concat([bytes, rest]);
      else if (isFrame) this.#read(text);
      else this.#take(text);
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

  /** Some servers end no line. Complete JSON objects cannot be the beginning of something longer. */
  #takeUnended(): void {
    if (this.#size > MAX_UNENDED || this.#pieces.at(-1)?.at(-1) !== CLOSING_BRACE) return;
    const text = Buffer.concat(this.#pieces, this.#size).toString("utf8").trim();
    const objects = objectsIn(text);
    if (objects.length === 0 || !objects.every(isJson)) return;
    this.#pieces = [];
    this.#size = 0;
    for (const object of objects) this.#read(object);
  }

  #readLarge(pieces: readonly Buffer[]): void {
    const { onlyWaiting, onUnreadable, readLarge, deliver } = this.#options;
    readLarge(pieces, { requestId: onlyWaiting(), isShared: true }).then(
      ({ messages }) => {
        for (const message of messages as JSONRPCMessage[]) deliver(message);
      },
      (error: unknown) => {
        const text = Buffer.concat(pieces).toString("utf8").trim();
        // What is wrong with it is found as with a small one.
        if (error instanceof UnreadableAnswerError) this.#read(text);
        else onUnreadable(new UnreadableAnswerError("could not be read", text, error), text);
        for (const message of this.#messages.splice(0)) deliver(message);
      },
    );
  }

  #read(text: string): void {
    const { onlyWaiting, traceOf, onUnreadable } = this.#options;
    try {
      const { messages } = readMessages(text, { traceOf, requestId: onlyWaiting(), isShared: true });
      // The Client of the SDK drops what is not a message.
      this.#messages.push(...(messages as JSONRPCMessage[]));
    } catch (error) {
      const bare = stripVTControlCharacters(text).trim();
      if (bare !== text) return this.#read(bare);
      const start = MESSAGE_START.exec(text)?.index ?? 0;
      if (start > 0) {
        onUnreadable(new UnreadableAnswerError("has text before a message", text), text.slice(0, start));
        this.#read(text.slice(start));
      } else if (error instanceof UnreadableAnswerError) onUnreadable(error, text);
    }
  }
}

/** True for bytes that begin and end like a JSON object. */
function isObjectText(pieces: readonly Buffer[]): boolean {
  const start = beginningOf(pieces, 64).toString("utf8").trim();
  return start.startsWith("{") && endOf(pieces, 64).toString("utf8").trim().endsWith("}");
}

/** The last bytes of pieces, without joining the others. */
function endOf(pieces: readonly Buffer[], bytes: number): Buffer {
  let first = pieces.length;
  for (let size = 0; size < bytes && first > 0; size += pieces[first]?.length ?? 0) first -= 1;
  return Buffer.concat(pieces.slice(first)).subarray(-bytes);
}

/** The objects of which a text consists, one behind the other; empty when it holds anything else. */
function objectsIn(text: string): string[] {
  const objects: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (depth === 0 && character !== "{") return [];
    if (character === '"') at = endOfText(text, at);
    else if (character === "{") depth += 1;
    else if (character === "}" && --depth === 0) {
      objects.push(text.slice(start, at + 1));
      start = at + 1;
    }
  }
  return depth === 0 ? objects : [];
}

/** The position of the quote that ends a JSON string. */
function endOfText(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
