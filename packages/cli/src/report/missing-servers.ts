import { durationText } from "@planwright/plan";
import type { ToolServer } from "../api/tools.ts";
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
      ...(server.stderrTail ?? "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => `    | ${oneLine(line, 200)}`),
    ]),
  ];
}

function whyOf({ state, error }: ToolServer): string {
  if (error !== null) return oneLine(error, 300);
  return state === "CONNECTING" ? "has not answered yet" : "is not connected";
}

function nextOf({ nextAttemptAt }: ToolServer, nowMs: number): string {
  const inMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt) - nowMs;
  return inMs === null || inMs <= 0 ? "" : `; tried again in ${durationText(inMs)}`;
}
