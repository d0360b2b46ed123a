import type { StepProgress } from "@planwright/client";
import { oneLine } from "../terminal/visible-text.ts";

const SAID: Readonly<Record<string, string>> = {
  completed: "it completed",
  failed: "it failed",
  retry: "it did not happen",
};

/** Who settled a doubt, and how: "an operator (ann) said that it completed". */
export function settlementText({ by, resolution }: { by: string; resolution: string }): string {
  return `an operator (${oneLine(by, 60)}) said that ${SAID[resolution] ?? oneLine(resolution, 40)}`;
}

/** The same for a step whose result was given by an operator; nothing where it came from the tool. */
export function settledNote({ settled }: Pick<StepProgress, "settled">): string[] {
  return settled ? [settlementText(settled)] : [];
}
