import { expect, test } from "vitest";
import type { ToolServer } from "../operations.ts";
import { leftOutTools, missingServers } from "./fleet-lines.ts";

const server: ToolServer = {
  name: "shop",
  state: "UNREACHABLE",
  tools: 0,
  leftOut: [],
  leftOutCount: 0,
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

test("tools that plans cannot use are shown with their reasons, the first 20 of each server", () => {
  const leftOut = Array.from({ length: 30 }, (_, index) => ({
    tool: index === 0 ? null : `t${index}\u001b[2J`,
    reason: "it has no inputSchema",
  }));
  const shown = leftOutTools([{ ...server, leftOut, leftOutCount: 40 }, server], (_, text) => text);
  expect(shown.slice(0, 4)).toEqual([
    "",
    "Listed tools that plans cannot use",
    "  (no name) of server shop: it has no inputSchema",
    expect.stringMatching(/^ {2}t1.* of server shop: it has no inputSchema$/),
  ]);
  expect(shown).toHaveLength(23);
  expect(shown.at(-1)).toBe("  20 more of server shop");
  expect(shown.join("")).not.toContain("\u001b");
  expect(leftOutTools([server], (_, text) => text)).toEqual([]);
});
