import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UsageError } from "../errors.ts";
import { EXIT, type ExitCode } from "../report/exit-code.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandContext } from "./command-context.ts";

/** The options of `output`. */
export interface OutputOptions {
  /** A file that does not exist yet. Default: standard output. */
  out?: string;
}

/**
 * Prints the JSON text of an output as it is stored, of any size; to a terminal without characters that
 * control it.
 */
export async function printOutput(
  { client, output, isJson }: CommandContext,
  ref: string,
  { out }: OutputOptions,
): Promise<ExitCode> {
  const body = await client.download(ref);
  if (out === undefined) {
    await output.printStream(Readable.from(body));
    return EXIT.OK;
  }
  try {
    await pipeline(Readable.from(body), createWriteStream(out, { flags: "wx" }));
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new UsageError(`${oneLine(out, 200)} cannot be written: ${oneLine(error.message, 200)}`, error);
  }
  if (isJson) output.printJson({ ref, file: out });
  else output.note([`Written to ${out}`]);
  return EXIT.OK;
}
