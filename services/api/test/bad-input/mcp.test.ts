/** Tool calls that must be refused, and messages that are not MCP, sent to /mcp. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { httpCaseSchema, sendCase } from "./http-case.ts";
import { expectClean, expectErrorText, firstOfEach, messageOf, readCases, SaysSchema } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const CallSchema = z.strictObject({
  ...SaysSchema,
  tool: z.string(),
  arguments: z.record(z.string(), z.json()).optional(),
});
const { calls, messages } = readCases(
  "mcp.json",
  z.strictObject({ calls: z.array(CallSchema), messages: z.array(httpCaseSchema("/mcp", HEADERS)) }),
);

let running: RunningSystem;
beforeAll(async () => {
  running = await startRunningSystem("mcp.json", { api: { MCP: "on" } });
});
afterAll(() => running.close());

const ask = (method: string, params: object = {}) =>
  running.post("/mcp", { jsonrpc: "2.0", id: 1, method, params }, { headers: HEADERS });

async function expectToolsListed(): Promise<void> {
  expect(messageOf(await ask("tools/list")).result.tools).toHaveLength(4);
  await running.expectWorking();
}

/** Texts for agents are short. */
function expectShortError(
  error: { message: string },
  expected: z.infer<z.ZodObject<typeof SaysSchema>>,
): void {
  expectErrorText(error, expected);
  expect(error.message.length).toBeLessThan(1_000);
}

describe("calls of tools", () => {
  afterAll(expectToolsListed);
  for (const { cases: some, options } of firstOfEach(calls, ({ tool }) => tool))
    test.each(some)("$name: $code", options, async ({ tool, arguments: given, ...expected }) => {
      const params = { name: tool, ...(given && { arguments: given }) };
      const answer = await running.play(expected.name, () => ask("tools/call", params));
      expectClean(answer.text);
      const { result } = messageOf(answer);
      expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
      expectShortError(JSON.parse(result.content[0].text), expected);
    });
});

describe("messages", () => {
  afterAll(expectToolsListed);
  for (const { cases: some, options } of firstOfEach(messages))
    test.each(some)("$name: $status $code", options, async (each) => {
      const answer = await sendCase(running, each);
      expectClean(answer.text);
      expect(answer.status).toBe(each.status);
      const { jsonrpc, error } = messageOf(answer);
      expect(jsonrpc).toBe("2.0");
      expectShortError({ message: error.message, ...error.data }, each);
    });
});
