import type { BulkResult } from "../api/bulk.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { problem } from "./format.ts";
import { table } from "./tables.ts";

/**
 * Requests with the result of a change or its preview.
 * @param columns - width of the table; long texts are cut. Pure.
 */
export function bulkTable(
  results: readonly BulkResult[],
  { columns, style }: { columns: number; style: Style },
): string[] {
  if (results.length === 0) return ["No request fits."];
  const width = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length)) + 2;
  const ids = results.map(({ requestId }) => oneLine(requestId, 64));
  const statuses = results.map(({ status }) => status ?? "UNKNOWN");
  const room = Math.max(24, columns - width(["REQUEST", ...ids]) - width(["STATUS", ...statuses]));
  const rows = results.map(({ error, query }, index) => [
    ids[index] ?? "",
    statuses[index] ?? "",
    error === null
      ? oneLine(query ?? "(a plan)", room)
      : style("attention", oneLine(`refused: ${problem(error)}`, room)),
  ]);
  return table(["REQUEST", "STATUS", ""], rows, style);
}
