import type { BulkResult } from "../api/bulk.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { problem } from "./format.ts";
import { table } from "./tables.ts";

/**
 * Requests with the result of a change or its preview.
 * @param columns - width of the terminal; long texts are cut. Infinity cuts nothing. Pure.
 */
export function bulkTable(
  results: readonly BulkResult[],
  { columns, style }: { columns: number; style: Style },
): string[] {
  if (results.length === 0) return ["No request fits."];
  const rows = results.map(({ requestId, status, error, title }) => [
    oneLine(requestId, 64),
    status ?? "UNKNOWN",
    error === null
      ? oneLine(title ?? "", columns)
      : style("attention", oneLine(`refused: ${problem(error)}`, columns)),
  ]);
  return table(["REQUEST", "STATUS", ""], rows, style, { columns, least: [null, null, 12] });
}
