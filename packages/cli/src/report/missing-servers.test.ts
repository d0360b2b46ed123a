import { expect, test } from "vitest";
import type { ToolServer } from "../api/tools.ts";
import { missingServers } from "./missing-servers.ts";

const server: ToolServer = {
  name: "shop",
  state: "UNREACHABLE",
  tools: 0,
  error: "its process ended before it answered",
  stderrTail: "Error: no licence\n    at main\u001b[2J",
  since: "2026-11-26T10:00:00.000Z",
  nextAttemptAt: "2026-11-26T10:02:08.000Z",
};
const textOf = (...servers: ToolServer[]) =>
  missingServers(servers, { style: (_, text) => text, nowMs: Date.parse("2026-11-26T10:02:05Z") });

test("a server that is not connected is shown with the reason, the duration, the next attempt and its last lines", () => {
  expect(textOf(server)).toEqual([
    "",
    "Tool servers that are not connected",
    "  shop  its process ended before it answered, for 2 min 5 s; tried again in 3.0 s",
    "    | Error: no licence",
    "    | at main",
  ]);
});

test("a server that has not answered yet is shown as such; connected servers are not shown", () => {
  const hanging = { ...server, state: "CONNECTING", error: null, stderrTail: null, nextAttemptAt: null };
  expect(textOf(hanging).at(-1)).toBe("  shop  has not answered yet, for 2 min 5 s");
  expect(textOf({ ...server, state: "CONNECTED" })).toEqual([]);
});
