import { createHash } from "node:crypto";
import { type StepRun, stepRunAt } from "@planwright/engine";
import { stringifyExactJson } from "@planwright/plan";
import { BadInputError, OutputNotFoundError } from "../errors/api-error.ts";
import type { AnswerBytes } from "../load/answer-bytes.ts";
import type { GraphqlContext } from "./context.ts";
import { composePart, makePart } from "./plan-outputs.ts";
import { parseOutputRef } from "./reads.ts";

/** Arguments of the query output. */
export interface OutputPageArguments {
  ref: string;
  offset: number;
  maxBytes: number;
}

/** A page of an output. */
interface OutputPage {
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

/** An output as JSON text in UTF-8, read in parts. */
export interface OpenOutput {
  sizeBytes: number;
  /** Unique for each text: outputs never change. */
  etag: string;
  /** Its stored documents, in order. */
  parts: readonly OutputPart[];
}

/** A part of an output, which is read completely. */
interface OutputPart {
  sizeBytes: number;
  read(): Promise<Buffer>;
}

/** Dependencies of {@link openOutput}. */
type OutputContext = Pick<GraphqlContext, "store" | "tenant" | "reads">;

/** Called before bytes are held in memory. @throws {OverloadedError} */
type Hold = (bytes: number) => Promise<void>;

/** The answer of the database arrives in pieces, which are in memory together with the bytes. */
const COPIES = 2;

/**
 * Opens the output of a reference, only for the tenant of the caller. Parts are counted when they are read.
 * @param hold - called with the size of the largest part before it is read or made
 * @throws {OutputNotFoundError} also for a step that is not COMPLETED, and for an invalid reference
 * @throws {AnswerTooLargeError | OverloadedError}
 */
export async function openOutput(ref: string, context: OutputContext, hold: Hold): Promise<OpenOutput> {
  const { store, tenant, reads } = context;
  const name = parseOutputRef(ref);
  if (!name) throw new OutputNotFoundError(ref);
  const { planId } = name;
  if ("part" in name) {
    const plan = await reads.plan(planId);
    const composed = plan?.finishedAt && (await composePart(planId, name.part, reads));
    if (composed) return openStored(composed);
    const made = plan?.finishedAt && (await makePart(planId, name.part, context, hold));
    if (!made) throw new OutputNotFoundError(ref);
    return inOnePart(made, ref);
  }
  const read = await store.readUnits(tenant, planId);
  const step = read && stepRunAt(read, name.stepKey);
  if (step?.status !== "COMPLETED") throw new OutputNotFoundError(ref);
  return openStep(step);

  async function openStep(opened: StepRun): Promise<OpenOutput> {
    const { outputRef } = opened;
    if (!outputRef)
      return inOnePart(stringifyExactJson(await reads.wholeOutput(opened)), `${ref}@${opened.seq}`);
    return openStored([opened]);
  }

  /** Texts, and outputs that are stored separately, in this order: outputs are read one document after another. */
  async function openStored(composed: readonly (string | StepRun)[]): Promise<OpenOutput> {
    const refs = composed.flatMap((part) => (typeof part === "string" ? [] : (part.outputRef ?? [])));
    const distinct = new Map(refs.map((outputRef) => [outputRef.id, outputRef]));
    const measured = [...distinct.values()].map(
      async (outputRef) => [outputRef.id, await store.measureOutputParts(tenant, outputRef)] as const,
    );
    const sizes = new Map(await Promise.all(measured));
    // The grant must cover the largest part: a later part may be larger than the first.
    const heldBytes = Math.max(...[...sizes.values()].flat()) * COPIES;
    const parts = composed.flatMap((part): OutputPart[] => {
      if (typeof part === "string") return inOnePart(part, ref).parts.slice();
      const { outputRef } = part;
      if (!outputRef) return [];
      return (sizes.get(outputRef.id) ?? []).map((sizeBytes, index) => ({
        sizeBytes,
        async read() {
          await hold(heldBytes);
          const { buffer, byteOffset, byteLength } = await store.readOutputPart(tenant, outputRef, index);
          return Buffer.from(buffer, byteOffset, byteLength);
        },
      }));
    });
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    return { sizeBytes, etag: etagOf(`${ref} ${refs.map(({ id }) => id).join()} ${sizeBytes}`), parts };
  }
}

function inOnePart(text: string | Uint8Array, name: string): OpenOutput {
  const buffer =
    typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const { length: sizeBytes } = buffer;
  return {
    sizeBytes,
    etag: etagOf(`${name} ${sizeBytes}`),
    parts: [{ sizeBytes, read: async () => buffer }],
  };
}

const etagOf = (name: string): string =>
  `"${createHash("sha256").update(name).digest("base64url").slice(0, 27)}"`;

/** The bytes from `start` to before `end`; reads only the parts of the range, one after another. */
export async function* readRange(
  { parts }: OpenOutput,
  start: number,
  end: number,
): AsyncGenerator<Buffer, void, void> {
  let from = 0;
  for (const part of parts) {
    const to = from + part.sizeBytes;
    if (to > start && from < end) {
      const buffer = await part.read();
      yield buffer.subarray(Math.max(0, start - from), Math.min(part.sizeBytes, end - from));
    }
    from = to;
  }
}
