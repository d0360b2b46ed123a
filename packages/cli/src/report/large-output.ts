import type { StepValues } from "@planwright/client";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandLine } from "./command-line.ts";
import { size } from "./format.ts";

/** Most characters of the preview. */
const MAX_PREVIEW = 60;

/** An output that is too large to show: its size, its beginning, and the command that prints it. Pure. */
export function largeOutput(
  { ref, sizeBytes, preview }: NonNullable<StepValues["outputReference"]>,
  command: CommandLine,
): string {
  const sizeText = sizeBytes === null ? "large" : size(sizeBytes);
  return `(${sizeText}${preview === null ? "" : `: ${oneLine(preview, MAX_PREVIEW)}`}) ${command("output", ref)}`;
}
