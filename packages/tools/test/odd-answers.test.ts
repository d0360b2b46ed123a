import { JsonText } from "@planwright/plan";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createToolClients, readLargeAnswer, type ToolClients } from "../src/index.ts";
import { type OddTransport, startOddServer } from "./odd-server.ts";

const unexpected = (path: string, declared: string, returned: string) =>
  `OUTPUT_UNEXPECTED: ${path}: declared ${declared}, returned ${returned}`;
const text = (value: unknown) => ({
  type: "text",
  text: typeof value === "string" ? value : JSON.stringify(value),
});
const ticket = { id: "T-1" };
const KINDS = "text, image, audio, resource, resource_link";

/** Results of a call that certainly acted, what the step keeps of them, and what is said about them. */
const kept: [string, unknown, unknown, string?][] = [
  [
    "structured content that is a list",
    { content: [text(ticket)], structuredContent: [ticket] },
    [ticket],
    unexpected("structuredContent", "an object", "a list"),
  ],
  [
    "structured content that is a text",
    { content: [], structuredContent: "T-1" },
    "T-1",
    unexpected("structuredContent", "an object", "a text"),
  ],
  [
    "structured content that is a number",
    { content: [], structuredContent: 7 },
    7,
    unexpected("structuredContent", "an object", "the number 7"),
  ],
  [
    "structured content that is false",
    { content: [text("no")], structuredContent: false },
    false,
    unexpected("structuredContent", "an object", "the boolean false"),
  ],
  ["structured content that is null", { content: [text(ticket)], structuredContent: null }, ticket],
  ["content that is null", { content: null, structuredContent: ticket }, ticket],
  ["content that is null, and nothing else", { content: null }, null],
  ["null for _meta and isError", { content: [text("ok")], _meta: null, isError: null }, "ok"],
  [
    "null in every field",
    { content: null, structuredContent: null, _meta: null, isError: null, resultType: null },
    null,
  ],
  ["null beside the text of a block", { content: [{ ...text("ok"), annotations: null, _meta: null }] }, "ok"],
  ["a result without content", {}, null],
  ["an object instead of a result", ticket, ticket, unexpected("content", "a list of blocks", "nothing")],
  [
    "the result of the first protocol",
    { toolResult: ticket },
    { toolResult: ticket },
    unexpected("content", "a list of blocks", "nothing"),
  ],
  [
    "content that is a text",
    { content: JSON.stringify(ticket) },
    ticket,
    unexpected("content", "a list of blocks", "a text"),
  ],
  [
    "content that is one block",
    { content: text(ticket) },
    ticket,
    unexpected("content", "a list of blocks", "an object"),
  ],
  [
    "a text in place of a block",
    { content: ["done"] },
    "done",
    unexpected("content[0]", "a block with a type", "a text"),
  ],
  [
    "a block without a type",
    { content: [{ text: "done" }] },
    "done",
    unexpected("content[0].type", "a text", "nothing"),
  ],
  [
    "a block with a type that is null",
    { content: [{ type: null, text: "done" }] },
    "done",
    unexpected("content[0].type", "a text", "null"),
  ],
  [
    "a block that is null",
    { content: [text("a"), null] },
    [text("a"), null],
    unexpected("content[1]", "a block with a type", "null"),
  ],
  [
    "a text that is null",
    { content: [{ type: "text", text: null }] },
    { type: "text", text: null },
    unexpected("content[0].text", "a text", "null"),
  ],
  [
    "a text that is an object",
    { content: [{ type: "text", text: ticket }] },
    { type: "text", text: ticket },
    unexpected("content[0].text", "a text", "an object"),
  ],
  [
    "a block of an unknown kind",
    { content: [{ type: "json", json: ticket }] },
    { type: "json", json: ticket },
    unexpected("content[0].type", KINDS, "json"),
  ],
  ["an image without its data", { content: [{ type: "image" }] }, { type: "image" }],
  [
    "isError that is a word",
    { content: [text("ok")], isError: "no" },
    "ok",
    unexpected("isError", "true or false", "a text"),
  ],
  ["JSON beside a note", { content: [text("Created:"), text(ticket)] }, ticket],
];

const failed: [string, "result" | "error", unknown, object][] = [
  [
    "an error that may have acted",
    "result",
    { isError: true, content: [text("timed out")] },
    { effect: "reported", error: { code: "TOOL_FAILED", message: "timed out", retryable: false } },
  ],
  [
    "an error told as a text",
    "result",
    { isError: "true", content: null, structuredContent: { message: "sold out", left: 0 } },
    { effect: "reported", error: { message: "sold out", data: { message: "sold out", left: 0 } } },
  ],
  [
    "an error whose data is JSON text",
    "result",
    { isError: true, content: [text({ code: 7 })] },
    { effect: "reported", error: { message: '{"code":7}', data: { code: 7 } } },
  ],
  [
    "an error that says that nothing happened",
    "result",
    { isError: true, content: [text("sold out")], _meta: { "dev.planwright/effect": "none" } },
    { effect: "none", error: { code: "TOOL_FAILED", message: "sold out", retryable: false } },
  ],
  [
    "an error with another mark",
    "result",
    { isError: true, content: [text("sold out")], _meta: { "dev.planwright/effect": "maybe" } },
    { effect: "reported" },
  ],
  ["a result that is a list", "result", [text("a")], { error: { code: "TOOL_RESULT_INVALID" } }],
  ["a result that is a text", "result", "done", { error: { code: "TOOL_RESULT_INVALID" } }],
  ["a result that is null", "result", null, { error: { code: "TOOL_RESULT_INVALID" } }],
  [
    "arguments that are refused",
    "error",
    { code: -32_602, message: "no such seat" },
    { effect: "none", error: { message: "answer: no such seat", retryable: false } },
  ],
  ["a method that is not known", "error", { code: -32_601, message: "no" }, { effect: "none" }],
  [
    "an internal error",
    "error",
    { code: -32_603, message: "boo", data: { step: 2 } },
    { effect: "unknown", error: { retryable: true, data: { step: 2 } } },
  ],
  [
    "an internal error that says that nothing happened",
    "error",
    { code: -32_603, message: "boo", data: { "dev.planwright/effect": "none" } },
    { effect: "none", error: { retryable: false } },
  ],
  [
    "an error whose data has a _meta that says so",
    "error",
    { code: -32_000, message: "boo", data: { _meta: { "dev.planwright/effect": "none" } } },
    { effect: "none" },
  ],
  [
    "an error with a _meta of its own that says so",
    "error",
    { code: -32_000, message: "boo", _meta: { "dev.planwright/effect": "none" } },
    { effect: "none" },
  ],
  ["an error of the tool", "error", { code: -32_000, message: "boo" }, { effect: "reported" }],
  [
    "an error whose code is a text",
    "error",
    { code: "E_SOLD_OUT", message: "boo" },
    { effect: "reported", error: { message: "answer: boo" } },
  ],
  ["an error that is a text", "error", "boo", { effect: "reported", error: { message: "answer: boo" } }],
];

describe.each<OddTransport>(["json", "stream", "stdio", "newer"])("over %s", (how) => {
  let clients: ToolClients;
  let stop: () => void;

  beforeAll(async () => {
    const server = await startOddServer(how);
    stop = server.stop;
    clients = createToolClients(server.config, { startTimeoutMs: 60_000 });
    await clients.start();
  });
  afterAll(async () => {
    await clients.close();
    stop();
  });

  const call = (raw: unknown, member = "result") =>
    clients.callTool({
      tool: "answer",
      arguments: { raw: JSON.stringify(raw), member },
      timeoutMs: 20_000,
    });

  test.each(kept)("%s is the output of a call that acted", async (_, result, output, warning) => {
    const outcome = await call(result);
    expect(outcome).toMatchObject({ type: "completed", output });
    expect("warnings" in outcome ? outcome.warnings : undefined).toEqual(warning && [warning]);
  });

  test.each(failed)("%s says what is known about its effect", async (_, member, answer, outcome) => {
    expect(await call(answer, member)).toMatchObject({ type: "failed", ...outcome });
  });

  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: "née", note: "top-secret-value" }));
  const large: [string, unknown, unknown][] = [
    ["structured content", { content: [], structuredContent: { rows } }, { rows }],
    ["a text", { content: [text(rows)] }, rows],
  ];

  test.each(large)(
    "a large result with %s is held as its masked text, and arguments may be bytes",
    async (_, result, value) => {
      clients.addSecrets("odd", ["top-secret-value"]);
      const raw = JSON.stringify({ resultType: "complete", ...(result as object) });
      const args = new TextEncoder().encode(JSON.stringify({ raw, member: "result" }));
      const outcome = await clients.callTool({ tool: "answer", arguments: args, timeoutMs: 20_000 });
      const output = outcome.type === "completed" ? outcome.output : outcome;
      expect(output).toBeInstanceOf(JsonText);
      if (!(output instanceof JsonText)) return;
      expect(output.sizeBytes).toBe(Buffer.byteLength(output.text));
      const masked: unknown = JSON.parse(JSON.stringify(value).replaceAll("top-secret-value", "[redacted]"));
      expect(output.value()).toEqual(masked);
    },
  );

  test("the time of a call ends when its answer has come, not when it was read", async () => {
    const { config, stop: stopSlow } = await startOddServer(how);
    const slow = createToolClients(config, {
      startTimeoutMs: 60_000,
      readLarge: async (job) => {
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        return readLargeAnswer(job);
      },
    });
    await slow.start();
    const raw = JSON.stringify({ resultType: "complete", content: [], structuredContent: { rows } });
    const outcome = await slow.callTool({
      tool: "answer",
      arguments: { raw, member: "result" },
      timeoutMs: 3_000,
    });
    expect(outcome).toMatchObject({ type: "completed" });
    await slow.close();
    stopSlow();
  });

  test("no message holds a dump of a validator", async () => {
    const answers = [null, [], "x", { content: 5 }, { isError: true, content: [null] }, ticket];
    const outcomes = await Promise.all(answers.map((answer) => call(answer)));
    expect(JSON.stringify(outcomes)).not.toMatch(/ZodError|invalid_type|"expected"|Invalid input/);
  });
});

test("a value of any kind is allowed as structured content where the protocol is that of 2026", async () => {
  const { config, stop } = await startOddServer("newer");
  const clients = createToolClients(config, { startTimeoutMs: 60_000 });
  await clients.start();
  const raw = JSON.stringify({ resultType: "complete", content: [], structuredContent: [ticket] });
  const outcome = await clients.callTool({
    tool: "answer",
    arguments: { raw, member: "result" },
    timeoutMs: 20_000,
  });
  expect(outcome).toEqual({ type: "completed", output: [ticket] });
  await clients.close();
  stop();
});
