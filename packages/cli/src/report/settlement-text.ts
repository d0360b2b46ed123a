import type { StepProgress } from "@planwright/client";
import { oneLine } from "../terminal/visible-text.ts";

const VERDICTS: Readonly<Record<string, string>> = {
  completed: "it completed",
  failed: "it failed",
  retry: "it did not happen",
};

/** How an operator settled a doubt: "an operator (ann) said that it completed". */
export function settlementText({ by, resolution }: { by: string; resolution: string }): string {
  return `an operator (${oneLine(by, 60)}) said that ${VERDICTS[resolution] ?? oneLine(resolution, 40)}`;
}

/** The same for a step whose result an operator gave; empty if the tool gave it. */
export function settledNote({ settled }: Pick<StepProgress, "settled">): string[] {
  return settled ? [settlementText(settled)] : [];
}
