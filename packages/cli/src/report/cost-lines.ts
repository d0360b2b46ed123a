import { countText, shareText } from "@planwright/plan";
import type { CostRecord, CostsRecord } from "../api/fleet.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { toSecond } from "./format.ts";
import { table } from "./tables.ts";

/**
 * What model calls cost: by model, in total, and the most expensive requests. Pure.
 * @param columns - width of the terminal; Infinity cuts nothing
 */
export function costLines(
  { from, before, models, requests, total, isComplete }: CostsRecord,
  { columns, style }: { columns: number; style: Style },
): string[] {
  const time = `from ${toSecond(from)} to ${toSecond(before)}`;
  if (total.calls === 0) return [`No model was called ${time}.`];
  const rows = models.map(({ model, cost }) => [oneLine(model, 60), ...numbersOf(cost)]);
  const expensive = requests.map(({ requestId, title, cost }) => [
    usd(cost),
    oneLine(requestId, 64),
    oneLine(title ?? "removed", columns),
  ]);
  return [
    `Model calls ${time}`,
    "",
    ...table(
      ["MODEL", "CALLS", "FAILED", "TOKENS IN", "CACHED", "TOKENS OUT", "USD"],
      [...rows, ["total", ...numbersOf(total)]],
      style,
      {
        columns,
        least: [12, null, null, null, null, null, null],
        leaveOut: ["CACHED", "TOKENS OUT", "TOKENS IN", "FAILED", "CALLS"],
      },
    ),
    ...notesOf(total, isComplete).map((note) => style("attention", note)),
    "",
    ...table(["USD", "REQUEST", "SENTENCE"], expensive, style, { columns, least: [null, null, 12] }),
  ];
}

function numbersOf(cost: CostRecord): string[] {
  const { calls, failures, inputTokens, cachedInputTokens, outputTokens } = cost;
  const failed = failures === 0 ? "0" : `${failures} (${shareText(failures, calls)})`;
  return [String(calls), failed, ...[inputTokens, cachedInputTokens, outputTokens].map(String), usd(cost)];
}

/** With "?" where calls have no known price. */
function usd({ costUsd, calls, unpriced }: CostRecord): string {
  if (unpriced === calls) return "?";
  return `${costUsd.toFixed(costUsd < 1 ? 4 : 2)}${unpriced > 0 ? " + ?" : ""}`;
}

/** What is not part of the sums. */
function notesOf({ unended, unpriced }: CostRecord, isComplete: boolean): string[] {
  return [
    ...(unpriced > 0
      ? [`?: the price of ${countText(unpriced, "call")} is not known; MODEL_PRICES_FILE sets prices`]
      : []),
    ...(unended > 0 ? [`Not in the sums: ${countText(unended, "call")} without an end`] : []),
    ...(isComplete ? [] : ["Only the newest 200,000 calls are counted; choose a shorter time"]),
  ];
}
