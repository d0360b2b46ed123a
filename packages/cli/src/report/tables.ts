import { pendingControl, pendingText } from "@planwright/client";
import { durationText, isJsonObject, shareText } from "@planwright/plan";
import measure from "fast-string-truncated-width";
import type { BulkResult, CalledTool, ListedRequest, ListedTool } from "../operations.ts";
import { oneLine, type Style } from "../terminal.ts";
import { markOf, problem, toSecond } from "./format.ts";

/** How a table fits the width of a terminal. */
interface Fit {
  /** Width of the terminal; Infinity cuts nothing. */
  columns: number;
  /** The least width of each column, from the first; null: it is never cut. */
  least: readonly (number | null)[];
  /** Headings of the columns that a terminal without room for all of them does not show, the first one first. */
  leaveOut?: readonly string[];
}

/** Columns of text under their headings. The widest cells are cut, so that no line wraps. */
export function table(head: readonly string[], rows: readonly string[][], style: Style, fit: Fit): string[] {
  const shown = shownColumns([head, ...rows], fit);
  const shownOf = (row: readonly string[]) => shown.map((index) => row[index] ?? "");
  const lines = [shownOf(head).map((title) => style("strong", title)), ...rows.map(shownOf)];
  const widths = fittedWidths(lines, {
    columns: fit.columns,
    least: shown.map((index) => fit.least[index] ?? null),
  });
  return lines.map((cells) =>
    cells
      .map((cell, index) => fitted(cell, widths[index] ?? 0))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
}

/** A cell of exactly this width, cut if it is longer. */
function fitted(cell: string, width: number): string {
  let shown = cell;
  // The package measures every text right, but cuts some with signs of East Asia a character too late.
  for (let limit = width; widthOf(shown) > width && limit >= 0; limit -= 1) {
    const kept = cell.slice(0, measure(cell, { limit, ellipsis: "…" }).index);
    // What is cut may be coloured.
    shown = `${kept}…${kept.includes(ESCAPE) ? `${ESCAPE}[0m` : ""}`;
  }
  return shown + " ".repeat(Math.max(0, width - widthOf(shown)));
}

const ESCAPE = String.fromCharCode(27);

/** The width of a text on a terminal, where characters of East Asia and emoji are two columns wide. */
const widthOf = (text: string): number => measure(text).width;

/** Between two columns. */
const GAP = 2;

/** The positions of the columns for which the terminal has room. */
function shownColumns(
  [head = [], ...rows]: readonly (readonly string[])[],
  { columns, least, leaveOut = [] }: Fit,
): number[] {
  const widest = (index: number) => Math.max(...[head, ...rows].map((row) => widthOf(row[index] ?? "")));
  const leasts = head.map((_, index) => Math.min(widest(index), least[index] ?? columns) + GAP);
  let shown = [...head.keys()];
  for (const title of leaveOut) {
    if (shown.reduce((sum, index) => sum + (leasts[index] ?? 0), -GAP) <= columns) break;
    shown = shown.filter((index) => head[index] !== title);
  }
  return shown;
}

/** The widths of the columns: as their texts are, but the widest ones are narrowed until a row fits. */
function fittedWidths(rows: readonly (readonly string[])[], { columns, least }: Fit): number[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.min(columns, Math.max(...rows.map((row) => widthOf(row[index] ?? "")))),
  );
  let over = widths.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  for (; over > 0; over -= 1) {
    const wide = widths.map((width, index) => (width > (least[index] ?? columns) ? width : 0));
    const widest = wide.indexOf(Math.max(...wide));
    if (wide[widest] === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** The tools that plans may use. @param columns - width of the terminal; Infinity cuts nothing */
export function toolsTable(tools: readonly ListedTool[], columns: number, style: Style): string[] {
  if (tools.length === 0)
    return [
      "No tools: no executor has published any yet. Start one (npm start); list your own servers in the file that MCP_SERVERS_FILE names.",
    ];
  const rows = tools.map((tool) => [
    oneLine(tool.name, 60),
    oneLine(tool.server, 30),
    promiseOf(tool),
    sourceOf(tool),
    oneLine(tool.description, 2_000),
  ]);
  const least = [null, 8, null, 6, 12];
  return table(["TOOL", "SERVER", "EFFECT", "BY", "DESCRIPTION"], rows, style, { columns, least });
}

/**
 * How the recent calls of tools ended, in the given order.
 * @param columns - width of the terminal; Infinity cuts nothing
 * @param nowMs - now, in milliseconds since 1970
 */
export function callsTable(
  tools: readonly CalledTool[],
  { columns, style, nowMs }: { columns: number; style: Style; nowMs: number },
): string[] {
  if (tools.length === 0) return ["No tool was called by your plans in the last 24 hours."];
  const timeOf = (durationMs: number | null) => (durationMs === null ? "" : durationText(durationMs));
  const rows = tools.map(({ name, server, calls: { count, failures, p50Ms, p99Ms, lastAt, errors } }) => [
    oneLine(name, 60),
    oneLine(server, 30),
    String(count),
    failures === 0 ? "0" : `${failures} (${shareText(failures, count)})`,
    timeOf(p50Ms),
    timeOf(p99Ms),
    lastAt === null ? "" : `${durationText(Math.max(0, nowMs - Date.parse(lastAt)))} ago`,
    errors.map((each) => `${oneLine(each.code, 64)} ${each.count}`).join(", "),
  ]);
  const heads = ["TOOL", "SERVER", "CALLS", "FAILED", "P50", "P99", "LAST", "FAILED WITH"];
  return table(heads, rows, style, { columns, least: [null, 8, null, null, null, null, 8, 8] });
}

/** Who says so; `planwright tools NAME` gives the reason for each field of the contract. */
function sourceOf({ annotations, contractReport: { fields } }: ListedTool): string {
  const sourceBy = new Map(fields.map(({ name, source }) => [name, source]));
  const sources = ["idempotency", "sideEffects"].map((name) => sourceBy.get(name) ?? "default");
  const source = sources.find((each) => each !== "default");
  if (source === "override") return "operator";
  if (source === "annotations") return "server's hint";
  if (source !== undefined) return "server";
  const saysItReads = isJsonObject(annotations) && annotations["readOnlyHint"] === true;
  return saysItReads ? "default, hint ignored" : "default";
}

/** Most tools that {@link contractProblems} names. */
const MAX_PROBLEMS = 20;

/** Tools with a declared or reviewed contract that is not used, with the reason; empty without any. */
export function contractProblems(
  tools: readonly (Pick<ListedTool, "name"> & { contractReport: { problems: readonly string[] } })[],
  style: Style,
): string[] {
  const lines = tools.flatMap(({ name, contractReport }) =>
    contractReport.problems.map((problem) => `  ${oneLine(name, 60)}  ${oneLine(problem, 300)}`),
  );
  if (lines.length === 0) return [];
  const left = lines.length - MAX_PROBLEMS;
  return [
    "",
    style("attention", "Contracts that are not used"),
    ...lines.slice(0, MAX_PROBLEMS),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}

/** The effect of a call, in a few words. */
function promiseOf(tool: ListedTool): string {
  const contract = isJsonObject(tool.contract) ? tool.contract : {};
  const { sideEffects, idempotency, requiresApproval, scope, rateLimit, barrier, mode, maxConcurrency } =
    contract;
  const saysItReads = isJsonObject(tool.annotations) && tool.annotations["readOnlyHint"] === true;
  const isBelieved = saysItReads && idempotency === "natural";
  const actsText = idempotency === "none" ? "acts" : "acts once";
  const effect = sideEffects === false || isBelieved ? "reads" : actsText;
  // Most tools without a contract allow one call at a time in a plan: that is not shown as a limit.
  const isBounded = barrier === true || mode === "sequential-only" || typeof maxConcurrency === "number";
  const isLimited = isJsonObject(rateLimit) || (scope !== "plan" && isBounded);
  return [effect, requiresApproval === true && "asks", isLimited && "limited"].filter(Boolean).join(", ");
}

/** A cancel or pause that was requested and is not complete. */
function pendingNote(plan: ListedRequest["plan"]): string {
  const pending = pendingControl(plan);
  return pending ? ` (${pendingText(pending)})` : "";
}

/** Printed beside the status of a request that waits for a person. */
const NEED_WORDS = {
  doubt: "in doubt",
  approval: "needs approval",
  answer: "needs answer",
  "sign-in": "needs sign-in",
  resume: "paused",
} as const;

/** The columns of a list of requests, each with its least width; null: never cut, so that it can be copied. */
const REQUEST_COLUMNS = {
  REQUEST: null,
  STATUS: 9,
  EXPIRES: null,
  CODE: 10,
  TOOL: 8,
  CREATED: null,
  SENTENCE: 12,
};
type RequestColumn = keyof typeof REQUEST_COLUMNS;
/** The columns that a terminal without room for all of them does not show, the first one first. */
const LEAVE_OUT: readonly RequestColumn[] = ["TOOL", "CODE", "CREATED", "EXPIRES", "SENTENCE", "STATUS"];
/** From this width on, times are shown to the second. */
const WIDE = 140;

/**
 * Requests, newest first. EXPIRES is when the first open approval expires. It, CODE and TOOL are left out if no
 * request has one.
 * @param columns - width of the terminal: no line is longer, long texts are cut, and on a narrow one columns are
 * left out. Infinity shows everything whole
 */
export function requestsTable(
  requests: readonly ListedRequest[],
  { columns, style }: { columns: number; style: Style },
): string[] {
  if (requests.length === 0) return ["No requests."];
  const facts = requests.map((request): Record<RequestColumn, string> => {
    const { requestId, status, plan, needs, mayHaveActed, expiresAt, code, tool, createdAt, title } = request;
    return {
      REQUEST: oneLine(requestId, 64),
      STATUS: `${oneLine(status, 32)}${needs === null || status === "NEEDS_INPUT" ? "" : `, ${NEED_WORDS[needs]}`}${mayHaveActed > 0 ? ", may have acted" : ""}${pendingNote(plan)}`,
      CODE: code === null ? "" : oneLine(code, 40),
      TOOL: tool === null ? "" : oneLine(tool, 40),
      EXPIRES: expiresAt === null ? "" : timeText(expiresAt, columns),
      CREATED: timeText(createdAt, columns),
      SENTENCE: oneLine(title, columns),
    };
  });
  const heads = (Object.keys(REQUEST_COLUMNS) as RequestColumn[]).filter((head) =>
    facts.some((row) => row[head] !== ""),
  );
  const rows = facts.map((row, index) =>
    heads.map((head) =>
      head === "STATUS"
        ? style(markOf("request", requests[index] ?? { status: "" }).tone, row.STATUS)
        : row[head],
    ),
  );
  const least = heads.map((head) => REQUEST_COLUMNS[head]);
  return table(heads, rows, style, { columns, least, leaveOut: LEAVE_OUT });
}

/** An instant, as exact as the terminal has room for. */
function timeText(at: string, columns: number): string {
  const instant = toSecond(at);
  return oneLine(columns < WIDE ? instant.replace(/^\d{4}-(.*)T(\d\d:\d\d).*Z$/, "$1 $2Z") : instant, 24);
}

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
