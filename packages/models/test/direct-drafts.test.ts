import { createDrafter } from "@planwright/models";
import type { ToolDescriptor } from "@planwright/plan";
import { type ModelServer, type ScriptedReply, startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const weather: ToolDescriptor = {
  name: "sky/get_weather",
  description: "Returns the current weather in a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const QUERY = "What is the weather in Oslo and Rome?";
const made = (...cities: string[]): ScriptedReply => ({
  type: "answer",
  toolCalls: cities.map((city, index) => ({ id: `c${index}`, name: "sky_get_weather", arguments: { city } })),
});
const drafterOf = (protocol: "openai" | "anthropic") =>
  createDrafter(
    protocol === "openai"
      ? { MODEL: "openai:x", OPENAI_BASE_URL: server.openAiUrl, MODEL_MAX_RETRIES: 0 }
      : {
          MODEL: "anthropic:claude-x",
          ANTHROPIC_API_KEY: "k",
          ANTHROPIC_BASE_URL: server.anthropicUrl,
          MODEL_MAX_RETRIES: 0,
        },
  );
const ask = (protocol: "openai" | "anthropic" = "openai", drafter = drafterOf(protocol)) =>
  drafter.draftDirectly?.({ query: QUERY, tools: [weather], signal: AbortSignal.timeout(20_000) });

test.each(["openai", "anthropic"] as const)(
  "native calls of %s become the text of a plan",
  async (protocol) => {
    server.script(() => made("Oslo", "Rome"));
    const result = await ask(protocol);
    expect(JSON.parse(result?.text ?? "")).toEqual({
      steps: [
        { tool: "sky/get_weather", arguments: { city: "Oslo" } },
        { tool: "sky/get_weather", arguments: { city: "Rome" } },
      ],
    });
    expect(result?.usage.inputTokens).toBeGreaterThan(0);
    const [body] = server.requests.slice(-1).map((request) => request.body);
    expect(JSON.stringify(body?.["tools"])).toContain("sky_get_weather");
    expect(body).not.toHaveProperty("response_format");
  },
);

test.each(["openai", "anthropic"] as const)(
  "a tool with a name that %s does not allow is offered under another name, and its calls are returned under its own",
  async (protocol) => {
    const named = ["send mail", "3d größe.messen"].map((name): ToolDescriptor => ({ ...weather, name }));
    server.script(() => ({
      type: "answer",
      toolCalls: [
        { id: "c0", name: "send_mail", arguments: { city: "Oslo" } },
        { id: "c1", name: "tool_3d_gr__e_messen", arguments: { city: "Rome" } },
      ],
    }));
    const result = await drafterOf(protocol).draftDirectly?.({
      query: QUERY,
      tools: named,
      signal: AbortSignal.timeout(20_000),
    });
    expect(JSON.parse(result?.text ?? "")).toMatchObject({
      steps: [{ tool: "send mail" }, { tool: "3d größe.messen" }],
    });
    const offered = JSON.stringify(server.requests.at(-1)?.body["tools"]);
    const names = [...offered.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name);
    expect(names).toEqual([
      expect.stringMatching(/^[A-Za-z_][\w-]{0,63}$/),
      expect.stringMatching(/^[A-Za-z_][\w-]{0,63}$/),
    ]);
    expect(offered).toContain("3d größe.messen: Returns the current weather");
  },
);

test.each<[string, ScriptedReply]>([
  ["no calls", { type: "answer", text: "PLAN" }],
  ["one of two", made("Oslo")],
  ["a value that the user did not say", made("Oslo", "Paris")],
  ["a tool that was not offered", { type: "answer", toolCalls: [{ name: "rm", arguments: {} }] }],
  [
    "arguments that are not JSON",
    { type: "answer", toolCalls: [{ name: "sky_get_weather", arguments: '{"city":' }] },
  ],
])("%s: the request has to be planned", async (_, reply) => {
  server.script(() => reply);
  expect(await ask()).toBeNull();
});

test("a server without tool calling is called once, and never again", async () => {
  server.script(() => ({ type: "error", status: 400, message: "tools are not supported" }));
  const drafter = drafterOf("openai");
  const before = server.requests.length;
  expect(await ask("openai", drafter)).toBeNull();
  expect(await ask("openai", drafter)).toBeNull();
  expect(server.requests.length - before).toBe(1);
});

test.each<[string, ScriptedReply]>([
  ["that does not speak of tools", { type: "error", status: 400, message: "the value of city is too long" }],
  ["by its size", { type: "error", status: 413 }],
  [
    "that is too long together with its tools",
    {
      type: "raw",
      status: 400,
      contentType: "application/json",
      body: JSON.stringify({
        error: {
          message: "maximum context length is 8192 tokens (8000 in the messages, 900 in the functions)",
          code: "context_length_exceeded",
        },
      }),
    },
  ],
])("after a request that was refused %s, tools are offered again", async (_, refusal) => {
  server.script(() => refusal);
  const drafter = drafterOf("openai");
  expect(await ask("openai", drafter)).toBeNull();
  server.script(() => made("Oslo", "Rome"));
  expect(await ask("openai", drafter)).not.toBeNull();
});

test("a server that has called a tool may refuse another one", async () => {
  const drafter = drafterOf("openai");
  server.script(() => made("Oslo", "Rome"));
  expect(await ask("openai", drafter)).not.toBeNull();
  server.script(() => ({ type: "error", status: 400, message: "Invalid schema for function 'get_weather'" }));
  expect(await ask("openai", drafter)).toBeNull();
  server.script(() => made("Oslo", "Rome"));
  expect(await ask("openai", drafter)).not.toBeNull();
});

test("a fallback without tool calling does not end the direct requests to the first model", async () => {
  const drafter = createDrafter({
    MODEL: "openai:x",
    OPENAI_BASE_URL: server.openAiUrl,
    FALLBACK_MODEL: "compatible:small",
    COMPATIBLE_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
  });
  server.script(({ body }) =>
    body["model"] === "x"
      ? { type: "error", status: 503 }
      : { type: "error", status: 400, message: "small does not support tools" },
  );
  expect(await ask("openai", drafter)).toBeNull();
  server.script(() => made("Oslo", "Rome"));
  expect(await ask("openai", drafter)).not.toBeNull();
});

test("a tool that cannot be offered unchanged costs no call", async () => {
  const before = server.requests.length;
  const wide = {
    ...weather,
    inputSchema: { type: "object", properties: { "ci\u200bty": { type: "string" } } },
  };
  const drafting = drafterOf("openai").draftDirectly?.({
    query: QUERY,
    tools: [wide],
    signal: AbortSignal.timeout(20_000),
  });
  expect(await drafting).toBeNull();
  expect(server.requests.length).toBe(before);
});

test("a failure of the provider is an error, as for any draft", async () => {
  server.script(() => ({ type: "error", status: 401 }));
  await expect(ask()).rejects.toMatchObject({ code: "MODEL_UNAUTHORIZED" });
});

test.each(["openai", "anthropic"] as const)(
  "a native call of %s keeps the digits of an id",
  async (protocol) => {
    const id = "7205759403792793601";
    const note: ToolDescriptor = {
      name: "get_note",
      description: "Returns a note.",
      inputSchema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    };
    server.script(() => ({
      type: "answer",
      toolCalls: [{ id: "c0", name: "get_note", arguments: `{"id": ${id}}` }],
    }));
    const result = await drafterOf(protocol).draftDirectly?.({
      query: `Get note ${id}`,
      tools: [note],
      signal: AbortSignal.timeout(20_000),
    });
    expect(result?.text).toBe(`{"steps":[{"tool":"get_note","arguments":{"id":${id}}}]}`);
  },
);
