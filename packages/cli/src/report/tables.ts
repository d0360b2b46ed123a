import { pendingControl, pendingText } from "@planwright/client";
import { isJsonObject } from "@planwright/plan";
import Table from "cli-table3";
import type { ListedRequest } from "../api/listed-requests.ts";
import type { ListedTool } from "../api/tools.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { markOf } from "./status-mark.ts";

const NO_BORDERS = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** Columns of text under their headings. */
export function table(head: readonly string[], rows: readonly string[][], style: Style): string[] {
  const drawn = new Table({
    head: head.map((title) => style("strong", title)),
    chars: NO_BORDERS,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0, compact: true },
  });
  drawn.push(...rows);
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}

/** The tools that plans may use. @param columns - width of the table; long descriptions are cut */
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
  const used = [0, 1, 2, 3].map((index) => Math.max(6, ...rows.map((row) => row[index]?.length ?? 0)));
  const room = Math.max(24, columns - used.reduce((sum, width) => sum + width + 2, 0));
  const cut = rows.map(([name = "", server = "", promise = "", source = "", description = ""]) => [
    name,
    server,
    promise,
    source,
    description.length > room ? `${description.slice(0, room - 1)}…` : description,
  ]);
  return table(["TOOL", "SERVER", "EFFECT", "BY", "DESCRIPTION"], cut, style);
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
const NEED_WORDS = { doubt: "in doubt", approval: "needs approval", answer: "needs answer" } as const;

/**
 * Requests, newest first. The columns CODE and TOOL are left out if no request has one.
 * @param columns - width of the table; long sentences are cut
 */
export function requestsTable(
  requests: readonly ListedRequest[],
  { columns, style }: { columns: number; style: Style },
): string[] {
  if (requests.length === 0) return ["No requests."];
  const facts = requests.map(({ requestId, status, plan, needs, mayHaveActed, code, tool, when }) => ({
    REQUEST: oneLine(requestId, 64),
    STATUS: `${oneLine(status, 32)}${needs === null || status === "NEEDS_INPUT" ? "" : `, ${NEED_WORDS[needs]}`}${mayHaveActed > 0 ? ", may have acted" : ""}${pendingNote(plan)}`,
    CODE: code === null ? "" : oneLine(code, 40),
    TOOL: tool === null ? "" : oneLine(tool, 40),
    WHEN: oneLine(when.replace(/\.\d+Z$/, "Z"), 24),
  }));
  const heads = (["REQUEST", "STATUS", "CODE", "TOOL", "WHEN"] as const).filter((head) =>
    facts.some((row) => row[head] !== ""),
  );
  const widths = heads.map((head) => Math.max(head.length, ...facts.map((row) => row[head].length)));
  const room = Math.max(12, columns - widths.reduce((sum, width) => sum + width + 2, 0));
  const rows = facts.map((row, index) => {
    const { status, query = null } = requests[index] ?? {};
    const cells = heads.map((head) =>
      head === "STATUS" && status !== undefined ? style(markOf(status).tone, row.STATUS) : row[head],
    );
    return [...cells, query === null ? "(a plan)" : oneLine(query, room)];
  });
  return table([...heads, "SENTENCE"], rows, style);
}
