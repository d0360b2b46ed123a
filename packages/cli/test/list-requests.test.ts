import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { parseMoment } from "../src/commands/list-requests.ts";
import { type CliSystem, startCliSystem } from "./cli-stack.ts";

test.each([
  ["24h", { agoMs: 86_400_000 }],
  ["30m", { agoMs: 1_800_000 }],
  ["2 days", { agoMs: 172_800_000 }],
  ["1.5h", { agoMs: 5_400_000 }],
  ["2026-11-21", { at: "2026-11-21T00:00:00.000Z" }],
  ["2026-11-21T09:00:00+01:00", { at: "2026-11-21T08:00:00.000Z" }],
])("--since %s is %o", (typed, since) => {
  expect(parseMoment(typed)).toEqual(since);
});

test.each(["24", "", "0h", "-1h", "h", "soon", "24 lightyears", "2026-99-99", "99999999y"])(
  "--since %j is refused",
  (typed) => {
    expect(() => parseMoment(typed)).toThrow("such as 24h");
  },
);

let system: CliSystem;
beforeAll(async () => {
  system = await startCliSystem();
});
afterAll(() => system?.close());

const ListSchema = z.array(
  z.object({
    requestId: z.string(),
    code: z.string().nullable(),
    tool: z.string().nullable(),
    needs: z.string().nullable(),
    mayHaveActed: z.number(),
  }),
);

async function listed(...args: string[]) {
  const { stdout, stderr, exitCode } = await system.cli("list", "--json", ...args);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return ListSchema.parse(JSON.parse(stdout));
}

test("requests that failed or wait for a person are found by code, tool, time and need, and shown in the table", async () => {
  system.tools().script({ keyed_effect: [{ type: "tool-error" }], plain_effect: [{ type: "lose-answer" }] });
  const failed = await system.submit([{ id: "act", tool: "keyed_effect", arguments: { value: 1 } }]);
  const doubt = await system.submit([{ id: "pay", tool: "plain_effect", arguments: { value: 1 } }]);
  const asks = await system.submit([{ id: "ask", tool: "set_value", arguments: { value: 1 } }]);
  const good = await system.submit([{ id: "look", tool: "read_value", arguments: { value: 1 } }]);
  await system.until(failed, ({ status }) => status === "FAILED");
  await system.until(good, ({ status }) => status === "COMPLETED");
  for (const one of [doubt, asks]) await system.until(one, ({ plan }) => plan?.status === "WAITING");

  const facts = {
    requestId: failed,
    code: "TOOL_FAILED",
    tool: "keyed_effect",
    needs: null,
    mayHaveActed: 1,
  };
  for (const args of [
    ["--failed"],
    ["--status", "failed"],
    ["--code", "tool_failed"],
    ["--failed", "--tool", "keyed_effect", "--since", "1h"],
  ]) {
    expect(await listed(...args)).toEqual([facts]);
  }
  expect(await listed("--failed", "--since", "2999-01-01")).toEqual([]);
  expect(await listed("--failed", "--tool", "read_value")).toEqual([]);
  expect(await listed("--needs", "doubt")).toMatchObject([
    { requestId: doubt, tool: "plain_effect", needs: "doubt" },
  ]);
  expect(await listed("--needs", "approval")).toMatchObject([
    { requestId: asks, tool: "set_value", needs: "approval" },
  ]);
  expect(await listed("--needs", "answer")).toEqual([]);
  expect(await listed("--first", "100")).toHaveLength(4);
  expect(await listed("--touched", "keyed_effect", "--since", "1h")).toEqual([facts]);
  expect(await listed("--touched", "keyed_effect", "--until", "1h")).toEqual([]);
  // Its call waits for an approval.
  expect(await listed("--touched", "set_value")).toEqual([]);
  expect(await listed("--until", "1h")).toEqual([]);

  const { stdout } = await system.cli("list");
  const lines = stdout.split("\n");
  expect(lines[0]).toMatch(/^REQUEST +STATUS +EXPIRES +CODE +TOOL +CREATED +SENTENCE$/);
  const lineOf = (requestId: string) => lines.find((line) => line.startsWith(requestId));
  expect(lineOf(failed)).toMatch(/ FAILED, may have acted +TOOL_FAILED +keyed_effect +20\S+Z +keyed_effect$/);
  expect(lineOf(doubt)).toMatch(/ EXECUTING, in doubt +(?!20)\S+ +plain_effect /);
  expect(lineOf(asks)).toMatch(/ EXECUTING, needs approval +20\S+Z +set_value /);
});

test("tools that were called are listed with their failures, the slowest first", async () => {
  await expect
    .poll(async () => (await system.cli("tools", "--slow")).stdout, { timeout: 20_000, interval: 500 })
    .toMatch(/keyed_effect +\S+ +1 +1 \(100 %\) .* ago +TOOL_FAILED 1/);
  const { stdout } = await system.cli("tools", "--slow");
  expect(stdout.split("\n")[0]).toMatch(/^TOOL +SERVER +CALLS +FAILED +P50 +P99 +LAST +FAILED WITH$/);
  expect(stdout).not.toContain("set_value");
});

test("an unknown status is refused with the list of statuses; --status and --failed exclude each other", async () => {
  const status = await system.cli("list", "--status", "done");
  expect(status).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("NEEDS_INPUT") });
  const both = await system.cli("list", "--status", "FAILED", "--failed");
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--failed") });
});
