import { durationText } from "@planwright/plan";
import type { ServerReload, ToolServer } from "../api/tools.ts";
import type { Style } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { between } from "./format.ts";

/**
 * The servers that are not connected, with the reason, the duration and the last lines of their processes;
 * empty if all are connected.
 */
export function missingServers(
  servers: readonly ToolServer[],
  { style, nowMs }: { style: Style; nowMs: number },
): string[] {
  const missing = servers.filter(({ state }) => state !== "CONNECTED");
  if (missing.length === 0) return [];
  return [
    "",
    style("attention", "Tool servers that are not connected"),
    ...missing.flatMap((server) => [
      `  ${oneLine(server.name, 60)}  ${whyOf(server)}, for ${durationText(between(server.since, nowMs) ?? 0)}${nextOf(server, nowMs)}`,
      ...stderrLines(server.stderrTail),
    ]),
  ];
}

/** How each executor reloaded a server. */
export function reloadLines({ name, executors }: ServerReload, style: Style): string[] {
  const server = oneLine(name, 60);
  const words: Readonly<Record<string, string>> = {
    RELOADED: `reloaded ${server}`,
    UNKNOWN: `does not have ${server} in its servers file`,
    PENDING: `has not answered yet; it reloads ${server} as long as it lives`,
  };
  if (executors.length === 0) return [`No executor that was alive had to reload ${server}`];
  return executors.flatMap(({ executor, outcome, reason, stderrTail }) => {
    const what = words[outcome] ?? `keeps the earlier connection of ${server}: ${oneLine(reason ?? "", 300)}`;
    const line = `${oneLine(executor, 120)} ${what}`;
    return [outcome === "RELOADED" ? line : style("attention", line), ...stderrLines(stderrTail)];
  });
}

function stderrLines(stderrTail: string | null): string[] {
  const lines = (stderrTail ?? "").split("\n").filter((line) => line !== "");
  return lines.map((line) => `    | ${oneLine(line, 200)}`);
}

/** Most left-out tools of one server that are printed. */
const SHOWN_LEFT_OUT = 20;

/** The tools that servers list and that no plan can use, with the reasons; empty if there are none. */
export function leftOutTools(servers: readonly ToolServer[], style: Style): string[] {
  const rows = servers.flatMap(({ name, leftOut, leftOutCount }) => {
    const shown = leftOut.slice(0, SHOWN_LEFT_OUT);
    const more = leftOutCount - shown.length;
    return [
      ...shown.map(
        ({ tool, reason }) =>
          `  ${oneLine(tool ?? "(no name)", 128)} of server ${oneLine(name, 60)}: ${oneLine(reason, 300)}`,
      ),
      ...(more > 0 ? [`  ${more} more of server ${oneLine(name, 60)}`] : []),
    ];
  });
  return rows.length === 0 ? [] : ["", style("attention", "Listed tools that plans cannot use"), ...rows];
}

function whyOf({ state, error }: ToolServer): string {
  if (error !== null) return oneLine(error, 300);
  return state === "CONNECTING" ? "has not answered yet" : "is not connected";
}

function nextOf({ nextAttemptAt }: ToolServer, nowMs: number): string {
  const inMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - nowMs;
  return inMs === null || inMs <= 0 ? "" : `; tried again in ${durationText(inMs)}`;
}
