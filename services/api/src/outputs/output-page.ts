import { BadInputError } from "../errors/input-errors.ts";
import type { AnswerBytes } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { openOutput, readRange } from "./open-output.ts";

/** Arguments of the query output. */
export interface OutputPageArguments {
  ref: string;
  offset: number;
  maxBytes: number;
}

/** A page of an output. */
export interface OutputPage {
  ref: string;
  sizeBytes: number;
  text: string;
  nextOffset: number | null;
}

/** Largest page, in bytes. */
const MAX_PAGE_BYTES = 1_048_576;
/** Size of the largest character, in bytes: the smallest page holds at least one character. */
const MAX_CHARACTER_BYTES = 4;

/**
 * A page of the JSON text of an output; no character is cut.
 * @throws {BadInputError | OutputNotFoundError | AnswerTooLargeError | OverloadedError}
 */
export function readOutputPage(wanted: OutputPageArguments, context: GraphqlContext): Promise<OutputPage> {
  const before = lastPages.get(context.bytes) ?? Promise.resolve();
  const page = before.then(() => cutPage(wanted, context));
  lastPages.set(
    context.bytes,
    page.catch(() => undefined), // its caller handles it
  );
  return page;
}

/**
 * The latest page of each answer. Pages are made one after another, because each needs complete documents in
 * memory.
 */
const lastPages = new WeakMap<AnswerBytes, Promise<unknown>>();

async function cutPage(
  { ref, offset, maxBytes }: OutputPageArguments,
  context: GraphqlContext,
): Promise<OutputPage> {
  if (maxBytes < MAX_CHARACTER_BYTES || maxBytes > MAX_PAGE_BYTES) {
    throw new BadInputError(
      "maxBytes",
      `A page of ${maxBytes} bytes is not allowed`,
      `Ask for ${MAX_CHARACTER_BYTES} to ${MAX_PAGE_BYTES}.`,
    );
  }
  if (offset < 0) throw noSuchByte(offset);
  const output = await openOutput(ref, context, (held) => context.bytes.cutting(held));
  const { sizeBytes } = output;
  if (offset > sizeBytes) throw noSuchByte(offset);
  const chunks: Buffer[] = [];
  const end = Math.min(sizeBytes, offset + maxBytes);
  for await (const chunk of readRange(output, offset, end)) chunks.push(chunk);
  const read = Buffer.concat(chunks);
  const isLast = offset + read.length === sizeBytes;
  const page = isLast ? read : read.subarray(0, endOfCharacters(read));
  return {
    ref,
    sizeBytes,
    text: page.toString("utf8"),
    nextOffset: isLast ? null : offset + page.length,
  };
}

function noSuchByte(offset: number): BadInputError {
  return new BadInputError(
    "offset",
    `The output has no byte ${offset}`,
    "Give 0, then nextOffset of each page.",
  );
}

/** The end of the last complete character. */
function endOfCharacters(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return start + length === bytes.length ? bytes.length : start;
}

const isContinuation = (byte: number | undefined): boolean => ((byte ?? 0) & 0xc0) === 0x80;
