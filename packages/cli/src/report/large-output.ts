import type { OutputReference } from "../api/request-record.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandLine } from "./command-line.ts";
import { size } from "./format.ts";

/** Characters of the preview. */
const MAX_PREVIEW = 60;

/** An output that is too large to be shown: its size, its beginning, and what prints it. Pure. */
export function largeOutput({ ref, sizeBytes, preview }: OutputReference, command: CommandLine): string {
  const told = sizeBytes === null ? "large" : size(sizeBytes);
  return `(${told}${preview === null ? "" : `: ${oneLine(preview, MAX_PREVIEW)}`}) ${command("output", ref)}`;
}
