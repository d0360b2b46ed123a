/**
 * Outputs that are stored separately: the large ones, and those that MongoDB would change.
 *
 * 1. An output is durable before the record of its step is written (R2), so a reference always leads to an
 *    output.
 * 2. Ids contain the epoch and are written once: a stale owner never overwrites the output of its successor.
 *    Only the output whose record was appended is referred to.
 * 3. Outputs of stale owners are removed when the plan ends; until then no document refers to them.
 */

import { setImmediate } from "node:timers/promises";
import type { StepError } from "@planwright/engine";
import {
  beginningOfText,
  escapeHalves,
  JsonText,
  type JsonValue,
  type OutputText,
  parseExactJson,
  stringifyExactJson,
  textOfContent,
} from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere, repeatUntilAnswered } from "../database/transient-errors.ts";
import { OutputMissingError } from "../records/errors.ts";
import type { OutputDocument, OutputRef } from "../records/plan-document.ts";
import type { StoreDependencies } from "./dependencies.ts";

/** The plan, and the claim of it, that an output belongs to. */
type OutputOwner = Pick<OutputDocument, "tenant" | "planId" | "epoch">;

/** Maximum number of outputs and bytes in one read. */
const READ_BATCH = { documents: 16, bytes: 16_777_216 };

/** Stores an output; durable when it returns. @throws {StoreUnavailableError} */
export async function writeOutput(
  { collections: { outputs }, clock, sleep }: Pick<StoreDependencies, "collections" | "clock" | "sleep">,
  { key, ...owner }: OutputOwner & { key: string },
  value: LargeValue,
): Promise<OutputRef> {
  const { text, sizeBytes } = value;
  const parts = partsOf(text);
  const { preview } = previewOf(value);
  const ref = { id: `${owner.planId}/${key}@${owner.epoch}`, sizeBytes, parts: parts.length, preview };
  const ids = partIds(ref);
  for (const [index, part] of parts.entries()) {
    const _id = ids[index] ?? ref.id;
    // No other writer uses these ids: a document that is there was written by an earlier try.
    const document = { _id, ...owner, text: textOfContent(part) };
    const write = () => insertUnlessThere(outputs, document);
    await repeatUntilAnswered("write an output", write, { monotonic: () => clock.monotonic(), sleep });
  }
  return ref;
}

/** The outputs of these references, by id of the reference. @throws {OutputMissingError} */
export async function readOutputs(
  collections: Collections,
  tenant: string,
  refs: readonly OutputRef[],
): Promise<Map<string, JsonValue>> {
  const texts = await readOutputTexts(collections, tenant, refs);
  return new Map([...texts].map(([id, text]): [string, JsonValue] => [id, parseExactJson(text)]));
}

/** The JSON texts of these outputs by id, as tools wrote them. @throws {OutputMissingError} */
export async function readOutputTexts(
  { outputs }: Collections,
  tenant: string,
  refs: readonly OutputRef[],
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const batch of batchesOf(refs)) {
    const texts = new Map<string, string>();
    const ids = batch.flatMap(partIds);
    for await (const { _id, text } of outputs.find(
      { _id: { $in: ids }, tenant },
      { projection: { text: 1 } },
    )) {
      texts.set(_id, text);
      // The documents of a batch are decoded one by one: other work runs in between.
      if (text.length > 65_536) await setImmediate();
    }
    for (const ref of batch) values.set(ref.id, joinParts(ref, texts));
  }
  return values;
}

/**
 * An output as its text, in memory that threads share. Its documents are read one by one, so that the event loop never
 * handles more than one. @throws {OutputMissingError}
 */
export async function readLargeOutput(
  collections: Collections,
  tenant: string,
  ref: OutputRef,
): Promise<JsonText> {
  const bytes = new Uint8Array(new SharedArrayBuffer(ref.sizeBytes));
  let at = 0;
  for (let part = 0; part < ref.parts; part += 1) {
    const read = await readOutputPart(collections, tenant, ref, part);
    bytes.set(read, at);
    at += read.byteLength;
  }
  return new JsonText(bytes, at);
}

/** Sizes of the documents of an output, in bytes of UTF-8. No text is read. @throws {OutputMissingError} */
export async function measureOutputParts(
  { outputs }: Collections,
  tenant: string,
  ref: OutputRef,
): Promise<number[]> {
  if (ref.parts === 1) return [ref.sizeBytes];
  const ids = partIds(ref);
  const found = await outputs
    .aggregate<{ _id: string; bytes: number }>([
      { $match: { _id: { $in: ids }, tenant } },
      { $project: { bytes: { $strLenBytes: "$text" } } },
    ])
    .toArray();
  const sizes = new Map(found.map(({ _id, bytes }) => [_id, bytes]));
  return ids.map((id) => sizes.get(id) ?? missing(id));
}

/**
 * The text of one document of an output in UTF-8, as MongoDB sends it: to decode it and to encode it again
 * would block the process. @param part - from 0 @throws {OutputMissingError}
 */
export async function readOutputPart(
  { outputs }: Collections,
  tenant: string,
  ref: OutputRef,
  part: number,
): Promise<Uint8Array> {
  const id = partIds(ref)[part] ?? ref.id;
  const found = await outputs.findOne<Pick<OutputDocument, "text"> | Uint8Array>(
    { _id: id, tenant },
    { projection: { _id: 0, text: 1 }, raw: true },
  );
  if (!found) return missing(id);
  // The database in memory has no BSON.
  return found instanceof Uint8Array ? found.subarray(BEFORE_TEXT, -AFTER_TEXT) : Buffer.from(found.text);
}

/**
 * In BSON with the only field `text`, before it: the size of the document, the type and name of the field, and the
 * size of the text; and two zeros after it. @see https://bsonspec.org/spec.html
 */
const BEFORE_TEXT = 4 + 1 + "text\0".length + 4;
const AFTER_TEXT = 2;

function batchesOf(refs: readonly OutputRef[]): OutputRef[][] {
  const batches: OutputRef[][] = [];
  let room = 0;
  for (const ref of refs) {
    const batch = batches.at(-1);
    if (!batch || batch.length === READ_BATCH.documents || ref.sizeBytes > room) {
      batches.push([ref]);
      room = READ_BATCH.bytes - ref.sizeBytes;
    } else {
      batch.push(ref);
      room -= ref.sizeBytes;
    }
  }
  return batches;
}

/** Removes outputs that earlier owners of a plan stored and that are not referred to. */
export async function removeStaleOutputs(
  { outputs }: Collections,
  { tenant, planId, epoch }: OutputOwner,
  kept: readonly OutputRef[],
): Promise<void> {
  await outputs.deleteMany({
    tenant,
    planId,
    epoch: { $lt: epoch },
    _id: { $nin: kept.flatMap(partIds) },
  });
}

/** Ids of the documents of an output. The first one has the id of the output. */
function partIds({ id, parts }: OutputRef): string[] {
  return Array.from({ length: parts }, (_, index) => (index === 0 ? id : `${id}#${index}`));
}

function joinParts(ref: OutputRef, texts: ReadonlyMap<string, string>): string {
  return partIds(ref)
    .map((id) => texts.get(id) ?? missing(id))
    .join("");
}

function missing(id: string): never {
  throw new OutputMissingError({ id });
}

/**
 * Characters, or bytes of UTF-8, in one document of an output. A document is made and sent in one turn of the event
 * loop, and so are those of outputs that arrive together: twelve documents of 1 MiB take 60 ms.
 */
const PART_LENGTH = 262_144;

/** Cuts a text or its UTF-8 into parts that fit into one document each, without copying bytes. No character is cut. */
export function partsOf<Content extends JsonText["content"]>(content: Content): Content[] {
  const cut = (start: number, end: number) =>
    (typeof content === "string" ? content.slice(start, end) : content.subarray(start, end)) as Content;
  const parts: Content[] = [];
  let start = 0;
  do {
    let end = Math.min(content.length, start + PART_LENGTH);
    while (end < content.length && isInsideCharacter(content, end)) end -= 1;
    parts.push(cut(start, end));
    start = end;
  } while (start < content.length);
  return parts;
}

/** True between the halves of a character of a text, or between the bytes of one. */
function isInsideCharacter(content: JsonText["content"], at: number): boolean {
  return typeof content === "string"
    ? (content.codePointAt(at - 1) ?? 0) > 0xffff
    : ((content[at] ?? 0) & 0b1100_0000) === 0b1000_0000;
}

/** Largest value that is stored in an entry, as JSON text in UTF-8, in bytes. */
export const MAX_INLINE_BYTES = 32_768;
/** Deepest nesting of a value in an entry. MongoDB's limit is 100, with the levels of the entry. */
const MAX_INLINE_DEPTH = 50;

/** A value that is stored in an entry. */
interface SmallValue {
  fits: true;
  /** Size as JSON text in UTF-8. */
  sizeBytes: number;
}

/** A value that is stored separately, or of which only a preview is stored. */
export interface LargeValue {
  fits: false;
  /** The value as JSON, or its UTF-8. */
  text: JsonText["content"];
  /** Size of the text in UTF-8. */
  sizeBytes: number;
}

/** Measures a value, and decides whether an entry can store it and return the same JSON. */
export function measureValue(value: JsonValue): SmallValue | (LargeValue & { text: string }) {
  const text = stringifyExactJson(value);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= MAX_INLINE_BYTES && isPlain(value)) return { fits: true, sizeBytes };
  return { fits: false, text, sizeBytes };
}

/**
 * {@link measureValue} for an output. If the tool wrote JSON text and the text or the value is too large for
 * the entry, only the text is stored separately: the value can be parsed from it.
 */
export function measureOutput(value: JsonValue, written: OutputText | undefined): SmallValue | LargeValue {
  const measured = measureValue(value);
  if (typeof written !== "string") return measured;
  const sizeBytes = Buffer.byteLength(written);
  return measured.fits && sizeBytes <= MAX_INLINE_BYTES
    ? measured
    : { fits: false, text: written, sizeBytes };
}

/** BSON is UTF-8 and would replace a lone surrogate. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * True when BSON and the driver return the value unchanged. They refuse keys with NUL and every object with
 * `_bsontype`, read an object with `$ref` and `$id` as a DBRef, and replace lone surrogates. Other keys with
 * `$` or dots, `__proto__`, -0 and large numbers are returned unchanged (see `fieldsAsRaw` in createStore).
 */
export function isPlain(value: JsonValue, depth = 0): boolean {
  if (typeof value === "string") return !LONE_SURROGATE.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_INLINE_DEPTH) return false;
  if (Array.isArray(value)) return value.every((entry) => isPlain(entry, depth + 1));
  if (Object.hasOwn(value, "$ref") && Object.hasOwn(value, "$id")) return false;
  return Object.entries(value).every(([key, member]) => isPlainKey(key) && isPlain(member, depth + 1));
}

function isPlainKey(key: string): boolean {
  return key !== "_bsontype" && !key.includes("\0") && !LONE_SURROGATE.test(key);
}

const PREVIEW_BYTES = 1_024;

/** The size of a value, and the first KiB of its JSON text, cut between two characters. */
export function previewOf({ text, sizeBytes }: Pick<LargeValue, "text" | "sizeBytes">) {
  const whole = typeof text === "string" ? Buffer.from(text.slice(0, PREVIEW_BYTES)) : text;
  const beginning = whole.subarray(0, PREVIEW_BYTES);
  // In stream mode the decoder leaves out the bytes of an incomplete character.
  return { sizeBytes, preview: new TextDecoder().decode(beginning, { stream: true }) };
}

/** Most characters of the message and of the code of an error: a tool may give each item any text. */
const MAX_MESSAGE = 20_000;
const MAX_CODE = 200;

/**
 * The error as it is stored with every attempt; of a text that an entry cannot hold, its beginning. Halves of
 * characters (lone surrogates), which MongoDB would replace, are escapes in its message. Data that the tool added and
 * that an entry cannot hold unchanged are kept as their JSON text, and left out when they are too large.
 */
export function keptError(error: StepError): StepError {
  const { data, ...told } = error;
  const { code, message } = told;
  const kept = {
    ...told,
    code: beginningOfText(code, MAX_CODE),
    message: escapeHalves(beginningOfText(message, MAX_MESSAGE)),
  };
  if (data === undefined) return kept;
  const measured = measureValue(data);
  if (measured.fits) return { ...kept, data };
  return measured.sizeBytes <= MAX_INLINE_BYTES ? { ...kept, data: measured.text } : kept;
}
