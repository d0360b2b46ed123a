import { type StepRun, settlementText } from "@planwright/client";
import { oneLine } from "../terminal/visible-text.ts";

/** How an operator settled a step's doubt, for a terminal; empty if the tool gave the result. */
export function settledNote({
  settled,
}: {
  settled: Pick<NonNullable<StepRun["settled"]>, "by" | "resolution"> | null;
}): string[] {
  return settled ? [oneLine(settlementText(settled), 120)] : [];
}
