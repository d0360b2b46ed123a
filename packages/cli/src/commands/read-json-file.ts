import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { type JsonValue, JsonValueSchema, parseExactJson } from "@planwright/plan";
import { UsageError } from "../errors.ts";

/** The API takes documents of 1 MiB. */
const MAX_BYTES = 1_048_576;

/**
 * Reads a JSON document from a file, or from standard input for "-". A list in place of the name of a file is
 * the document itself.
 * @throws {UsageError}
 */
export async function readJsonFile(file: string, signal: AbortSignal): Promise<JsonValue> {
  const isGiven = file.trimStart().startsWith("[");
  const name = isGiven ? "the given list" : file === "-" ? "standard input" : file;
  const text = isGiven
    ? file
    : await readText(file === "-" ? process.stdin : createReadStream(file), name, signal);
  try {
    return JsonValueSchema.parse(parseExactJson(text));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is nested too deep";
    throw new UsageError(`${name} is not JSON: ${why}`, error);
  }
}

async function readText(stream: Readable, name: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError(`${name} cannot be read: ${error instanceof Error ? error.message : ""}`, error);
  }
  if (size > MAX_BYTES)
    throw new UsageError(`${name} is larger than 1 MiB, which is more than the API accepts`);
  return Buffer.concat(chunks).toString("utf8");
}
