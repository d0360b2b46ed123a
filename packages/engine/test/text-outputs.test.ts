import type { JsonObject, JsonValue, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { createEngineState, decide, runPlan, type StepRecord } from "../src/index.ts";
import { outcomeOfValue } from "../src/runner/make-call.ts";
import { planOf, tool } from "./simulate.ts";

const SEND: ToolDescriptor = tool(
  "send",
  {},
  {
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string" },
        count: { type: "integer" },
        texts: { type: "array", items: { type: "string" } },
        any: {},
      },
    },
  },
);
const MANY: ToolDescriptor = tool(
  "many",
  { batch: { param: "rows", max: 10 } },
  {
    inputSchema: {
      type: "object",
      properties: {
        rows: {
          type: "array",
          items: { type: "object", properties: { id: { type: "string" }, n: { type: "integer" } } },
        },
      },
    },
  },
);
const IDS: ToolDescriptor = tool(
  "ids",
  { batch: { param: "ids", max: 10 } },
  {
    inputSchema: {
      type: "object",
      properties: { ids: { type: "array", items: { type: "string" } } },
    },
  },
);
const TOOLS = [tool("read"), SEND, MANY, IDS];

/** Runs steps after a tool `read` that returns this text. Returns the arguments of all other calls. */
async function sent(text: string, ...steps: object[]): Promise<{ calls: JsonObject[]; status: string }> {
  const calls: JsonObject[] = [];
  const plan = { steps: [{ id: "read", tool: "read" }, ...steps] };
  const { status } = await runPlan(plan, {
    tools: TOOLS,
    callTool: ({ tool: name, arguments: args }) => {
      if (name === "read") return { content: [{ type: "text", text }] };
      calls.push(args);
      const list = args["rows"] ?? args["ids"];
      return Array.isArray(list) ? { results: list } : args;
    },
  });
  return { calls, status };
}

test("each argument gets the text or the value, by its type", async () => {
  const args = { text: "<<read>>", count: "<<read>>", texts: ["<<read>>", "n: <<read>>"], any: "<<read>>" };
  const { calls, status } = await sent("1e3", { id: "send", tool: "send", arguments: args });
  expect([status, calls]).toEqual([
    "COMPLETED",
    [{ text: "1e3", count: 1000, texts: ["1e3", "n: 1e3"], any: 1000 }],
  ]);
});

test("the text null gives null, and other text is not valid for a number argument", async () => {
  const nothing = await sent("null", { id: "send", tool: "send", arguments: { any: "<<read>>" } });
  expect(nothing.calls).toEqual([{ any: null }]);
  const text = await sent("none", { id: "send", tool: "send", arguments: { count: "<<read>>" } });
  expect([text.status, text.calls]).toEqual(["PARTIAL", []]);
});

test("a value that is not text becomes JSON text for a text argument, with a warning", async () => {
  const result = await runPlan(
    {
      steps: [
        { id: "read", tool: "read" },
        { id: "send", tool: "send", arguments: { text: "<<read.id>>" } },
      ],
    },
    { tools: TOOLS, callTool: ({ tool: name, arguments: args }) => (name === "read" ? { id: 7 } : args) },
  );
  expect(result.steps["send"]).toMatchObject({
    output: { text: "7" },
    warnings: [expect.stringContaining("text is a number, and send takes a text")],
  });
});

test("inside a forEach, one by one", async () => {
  const { calls } = await sent("1.0", {
    id: "each",
    forEach: { items: [1, 2], do: { tool: "send", arguments: { text: "<<read>>", count: "<<item>>" } } },
  });
  expect(calls).toEqual([
    { text: "1.0", count: 1 },
    { text: "1.0", count: 2 },
  ]);
});

test.each<[string, string, JsonObject, JsonValue]>([
  [
    "of objects",
    "many",
    { id: "<<read>>", n: "<<item>>" },
    { rows: [1, 2, 3, 4].map((n) => ({ id: "1.0", n })) },
  ],
  ["of texts", "ids", { id: "<<read>>" }, { ids: ["1.0", "1.0", "1.0", "1.0"] }],
  ["of texts, with the list planned", "ids", { ids: "<<read>>" }, { ids: ["1.0", "1.0", "1.0", "1.0"] }],
  ["of numbers for texts", "ids", { id: "<<item>>" }, { ids: ["1", "2", "3", "4"] }],
])("inside a batch %s", async (_, name, args, call) => {
  const { calls } = await sent("1.0", {
    id: "each",
    forEach: { items: [1, 2, 3, 4], do: { tool: name, arguments: args } },
  });
  expect(calls).toEqual([call]);
});

test.each([
  ["", {}],
  [
    ", also behind an item that the condition skips",
    { items: ["1", "1e3", "x"], when: { ne: ["<<item>>", "1"] } },
  ],
])("items of a forEach keep the text that their tools wrote%s", async (_, forEach) => {
  const calls: JsonObject[] = [];
  await runPlan(
    {
      steps: [
        {
          id: "each",
          forEach: { items: ["1e3", "x"], ...forEach, do: { tool: "read", arguments: { say: "<<item>>" } } },
        },
        {
          id: "send",
          tool: "send",
          arguments: { texts: "<<each.results[*].data>>", any: "<<each.results[0].data>>" },
        },
      ],
    },
    {
      tools: TOOLS,
      callTool: ({ tool: name, arguments: args }) => {
        if (name === "read") return String(args["say"]);
        calls.push(args);
        return null;
      },
    },
  );
  expect(calls).toEqual([{ texts: ["1e3", "x"], any: 1000 }]);
});

test("a state built from records sends the same bytes: records contain the texts as written", () => {
  const plan = planOf([
    { id: "each", forEach: { items: [1], do: { tool: "read", arguments: {} } } },
    { id: "read", tool: "read", arguments: {} },
    {
      id: "send",
      tool: "send",
      arguments: { text: "<<read>>", count: "<<read>>", texts: "<<each.results[*].data>>" },
    },
  ]);
  const done = { status: "COMPLETED", attempts: 1 } as const;
  const envelope = {
    results: [{ index: 0, key: "0", status: "ok", data: 1 }],
    summary: { ok: 1, error: 0 },
  };
  const records: StepRecord[] = [
    { key: "each", stepId: "each", output: envelope, ...done },
    { key: "each[0]", stepId: "each", item: 0, output: 1, outputText: "1.0", ...done },
    { key: "read", stepId: "read", output: 1000, outputText: "1e3", ...done },
  ];
  const state = createEngineState({ plan, tools: TOOLS, records });
  const [command] = decide(state, { type: "started", at: 0 });
  expect(command).toMatchObject({
    type: "call",
    call: { arguments: { text: "1e3", count: 1000, texts: ["1.0"] } },
  });
});

test("the stored text is small: only what cannot be derived from the JSON value is kept", async () => {
  const state = createEngineState({
    plan: planOf([{ id: "read", tool: "read", arguments: {} }]),
    tools: TOOLS,
  });
  decide(state, { type: "started", at: 0 });
  const commands = decide(state, {
    type: "attempt.ended",
    key: "read",
    attempt: 1,
    outcome: { type: "completed", output: { a: 1 }, text: 2 },
    at: 1,
    random: 0,
  });
  const [record] = commands.flatMap((command) => ("records" in command ? command.records : []));
  expect(record).toMatchObject({ output: { a: 1 }, outputText: 2 });
});

/** A plan that reads and then sends `text`, with the raw result of the read. */
const readAndSend = (result: JsonValue, text: string, outputSchema?: JsonObject) =>
  runPlan(
    {
      steps: [
        { id: "read", tool: "read" },
        { id: "send", tool: "send", arguments: { text } },
      ],
    },
    {
      tools: [tool("read", {}, outputSchema ? { outputSchema } : {}), SEND],
      callTool: ({ tool: name, arguments: args }) => (name === "read" ? result : args),
    },
  );
const block = (value: JsonValue) => ({
  type: "text",
  text: typeof value === "string" ? value : JSON.stringify(value),
});
const NUMBERED = {
  type: "object",
  required: ["id", "at"],
  properties: { id: { type: "string" }, state: { enum: ["open", "closed"] }, at: { type: "string" } },
};

test.each<[string, JsonValue, string, string, string[]]>([
  [
    "a list as structure",
    { content: [block({ id: "T-1" })], structuredContent: [{ id: "T-1" }] },
    "Opened <<read[0].id>>",
    "Opened T-1",
    ["structuredContent: declared an object, returned a list"],
  ],
  [
    "a list as structure beside null",
    { content: null, structuredContent: [{ id: "T-1" }], isError: null },
    "Opened <<read[0].id>>",
    "Opened T-1",
    ["structuredContent: declared an object, returned a list"],
  ],
  [
    "JSON beside a link",
    { content: [block({ id: 7 }), { type: "resource_link", uri: "file:///a", name: "a" }] },
    "<<read.id>>",
    "7",
    [],
  ],
  ["one object for a list", { content: [block({ id: "B-1" })] }, "<<read[0].id>>", "B-1", []],
  ["one object for all items", { content: [block({ id: "B-1" })] }, "<<read[*].id>>", '["B-1"]', []],
  ["nothing for all items", { content: [] }, "<<read[*].id>>", "[]", []],
  ["JSON beside a note", { content: [block("Made:"), block({ id: 7 })] }, "<<read.id>>", "7", []],
  [
    "JSON beside a note, as a whole",
    { content: [block("Made:"), block({ id: 7 })] },
    "<<read>>",
    'Made:\n{"id":7}',
    [],
  ],
])(
  "an answer that is %s completes its step and is read by the next",
  async (_, result, text, sentText, odd) => {
    const { status, steps } = await readAndSend(result, text);
    expect([status, steps["send"]?.output]).toEqual(["COMPLETED", { text: sentText }]);
    expect(steps["read"]?.warnings).toEqual(odd.map((one) => `OUTPUT_UNEXPECTED: ${one}`));
  },
);

test.each<[string, JsonObject, JsonValue, JsonValue, string[]]>([
  ["that fits", NUMBERED, { id: "7", at: "now" }, { id: "7", at: "now" }, []],
  [
    "with other types and fields",
    NUMBERED,
    { id: 7, state: "gone" },
    { id: 7, state: "gone" },
    [
      "output.at: declared required, returned nothing",
      "output.id: declared string, returned number",
      'output.state: declared one of "open", "closed", returned "gone"',
    ],
  ],
  ["that is a text", NUMBERED, "done", "done", ["output: declared object, returned string"]],
  ["that is one object of a list", { type: "array" }, { id: 7 }, [{ id: 7 }], []],
  ["that is nothing of a list", { type: "array" }, null, [], []],
  [
    "that is a text in place of a list",
    { type: "array" },
    "no boards",
    "no boards",
    ["output: declared array, returned string"],
  ],
  ["whose schema cannot be used", { $ref: "#/nowhere" }, { id: 7 }, { id: 7 }, []],
])(
  "an output %s completes its step, and a warning names what was declared",
  async (_, schema, value, output, odd) => {
    const content = value === null ? [] : [block(value)];
    const { steps } = await readAndSend({ content }, "x", schema);
    expect(steps["read"]).toMatchObject({ status: "COMPLETED", output });
    expect(steps["read"]?.warnings).toEqual(odd.map((one) => `OUTPUT_UNEXPECTED: ${one}`));
  },
);

test("a tool that says that nothing happened has no effect", () => {
  const result = { isError: true, content: [block("sold out")], _meta: { "dev.planwright/effect": "none" } };
  expect(outcomeOfValue(result)).toEqual({
    type: "failed",
    error: { code: "TOOL_FAILED", message: "sold out", retryable: false },
    effect: "none",
  });
});
