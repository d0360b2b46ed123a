/** Tools whose authors return, throw and log what they should not. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type CallContext, defineTool, memoryAnswers, once, serveHttp, type Tool } from "../src/index.ts";

const circular: Record<string, unknown> = { name: "response" };
circular["request"] = circular;

const tool = (name: string, run: (context: CallContext) => unknown): Tool =>
  defineTool({
    name,
    description: "Acts",
    input: z.object({}),
    output: z.object({ ok: z.boolean() }),
    run: (_input, context) => run(context) as never,
  });

/** Serves tools with the log that a server has by default; `lines` has what it wrote. */
async function served(...tools: Tool[]) {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const server = await serveHttp(tools, { port: 0 });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  onTestFinished(async () => {
    await client.close();
    await server.close();
    written.mockRestore();
  });
  return {
    call: (name: string) => client.request({ method: "tools/call", params: { name, arguments: {} } }),
    lines: () => written.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>),
  };
}

test.each([
  ["nothing", undefined],
  ["a function", () => true],
])("a call that has acted and returns %s keeps its key", async (_what, answer) => {
  let times = 0;
  const run = once(memoryAnswers(), () => {
    times += 1;
    return answer as never;
  });
  const context = { tool: "buy", arguments: {}, key: "key-1", signal: new AbortController().signal };
  const call = () => run({}, { ...context, deadlineAt: undefined, log: () => undefined });
  await call();
  await call();
  expect(times).toBe(1);
});

test.each([
  ["a text", "done", '"done"'],
  ["a list", [1], "[1]"],
  ["null", null, "null"],
  ["nothing", undefined, "null"],
])("an answer that is %s is not lost: the call has acted", async (_what, answer, text) => {
  const { call } = await served(tool("act", () => answer));
  expect(await call("act")).toMatchObject({ content: [{ type: "text", text }] });
});

test("a line of the log that is no JSON fails no call", async () => {
  const { call, lines } = await served(
    tool("act", ({ log }) => {
      log("the bank answered", { circular });
      return { ok: true };
    }),
  );
  expect(await call("act")).toMatchObject({ structuredContent: { ok: true } });
  expect(lines()).toMatchObject([{ msg: "the bank answered", facts: expect.stringContaining("response") }]);
});

test.each([
  [
    "an error with a cause",
    new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") }),
    "ECONNREFUSED",
  ],
  ["several errors", new AggregateError([new Error("no route to bank")], "all failed"), "no route to bank"],
  ["a text", "the bank is closed", "the bank is closed"],
  ["an object that is no JSON", circular, "response"],
  ["nothing", undefined, "a tool failed"],
])(
  "%s that a tool throws is in the log as a whole, and tells the caller nothing",
  async (_what, thrown, told) => {
    const { call, lines } = await served(
      tool("act", () => {
        // oxlint-disable-next-line only-throw-error -- JavaScript lets authors throw anything
        throw thrown;
      }),
    );
    await expect(call("act")).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringMatching(
        /act failed for an internal reason; whether it changed anything is not known$/,
      ),
    });
    expect(JSON.stringify(lines())).toContain(told);
  },
);
