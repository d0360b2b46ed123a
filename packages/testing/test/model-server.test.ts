import { afterEach, beforeEach, expect, test } from "vitest";
import { answer, type ModelServer, startModelServer } from "../src/index.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ apiKey: "right" });
});
afterEach(() => server.close());

const ask = (url: string, body: object, key = "right") =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "x-api-key": key },
    body: JSON.stringify(body),
  });
const openAi = (body: object = {}, key?: string) => ask(`${server.openAiUrl}/chat/completions`, body, key);
const anthropic = (body: object = {}, key?: string) => ask(`${server.anthropicUrl}/v1/messages`, body, key);

/** The JSON of each `data:` line of a stream. */
async function eventsOf(response: Response): Promise<unknown[]> {
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)));
}

test("the OpenAI protocol as JSON: text, tool calls, finish reason, usage", async () => {
  server.enqueue(
    answer("hello", {
      toolCalls: [{ name: "add", arguments: { a: 1 } }],
      usage: { inputTokens: 3, outputTokens: 4 },
    }),
  );
  expect(await (await openAi({ model: "m" })).json()).toMatchObject({
    object: "chat.completion",
    model: "m",
    choices: [
      {
        message: {
          role: "assistant",
          content: "hello",
          tool_calls: [{ id: "call_0", type: "function", function: { name: "add", arguments: '{"a":1}' } }],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  });
});

test("the OpenAI protocol as stream: pieces, finish reason, usage when requested, [DONE]", async () => {
  server.enqueue(answer("hello world", { chunkSize: 4, usage: { inputTokens: 3, outputTokens: 4 } }));
  const response = await openAi({ stream: true, stream_options: { include_usage: true } });
  const text = await response.text();
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  expect([...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1])).toEqual([
    "",
    "hell",
    "o wo",
    "rld",
  ]);
  expect(text).toContain('"finish_reason":"stop"');
  expect(text).toContain('"total_tokens":7');
});

test("the Anthropic protocol as JSON and as stream", async () => {
  const reply = answer("hello", { finishReason: "length", usage: { inputTokens: 3, outputTokens: 4 } });
  server.enqueue(reply, reply);
  expect(await (await anthropic()).json()).toMatchObject({
    type: "message",
    content: [{ type: "text", text: "hello" }],
    stop_reason: "max_tokens",
    usage: { input_tokens: 3, output_tokens: 4 },
  });
  expect(await eventsOf(await anthropic({ stream: true }))).toMatchObject([
    { type: "message_start" },
    { type: "content_block_start", index: 0 },
    { type: "content_block_delta", delta: { type: "text_delta", text: "hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 4 } },
    { type: "message_stop" },
  ]);
});

test("the protocol of Google as JSON and as stream: candidates, finish reason, usage in every event", async () => {
  const google = (method: string) => ask(`${server.googleUrl}/v1beta/models/m:${method}`, { contents: [] });
  const usage = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 2 };
  const reply = answer("hello world", { chunkSize: 6, usage });
  server.enqueue(reply, reply);
  const content = { role: "model", parts: [{ text: "hello world" }] };
  expect(await (await google("generateContent")).json()).toMatchObject({
    candidates: [{ content, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, cachedContentTokenCount: 2 },
  });
  expect(await eventsOf(await google("streamGenerateContent?alt=sse"))).toMatchObject([
    { candidates: [{ content: { parts: [{ text: "hello " }] } }], usageMetadata: { promptTokenCount: 3 } },
    { candidates: [{ content: { parts: [{ text: "world" }] } }] },
    { candidates: [{ content: { parts: [] }, finishReason: "STOP" }] },
  ]);
  expect(server.requests[0]).toMatchObject({ protocol: "google", body: { model: "m" }, isStream: false });
});

test("a cut with a clean end ends the body as if it were complete", async () => {
  server.enqueue({ type: "cut", text: "hello world", afterChars: 5, isClean: true });
  const asked = { stream: true, stream_options: { include_usage: true } };
  const text = await (await openAi(asked)).text();
  expect(text).toContain("hello");
  expect(text).not.toContain('finish_reason":"stop');
});

test("an error has the status, Retry-After and the body of the protocol", async () => {
  server.enqueue({ type: "error", status: 429, retryAfterSeconds: 9 }, { type: "error", status: 500 });
  const limited = await openAi();
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "9"]);
  expect(await limited.json()).toMatchObject({ error: { type: "rate_limit_error" } });
  expect(await (await anthropic()).json()).toMatchObject({ type: "error", error: { type: "api_error" } });
});

test("a wrong key gets 401", async () => {
  expect((await openAi({}, "wrong")).status).toBe(401);
  expect((await anthropic({}, "wrong")).status).toBe(401);
});

test("a cut answer ends the connection, as stream and as JSON", async () => {
  server.enqueue(
    { type: "cut", text: "hello world", afterChars: 5 },
    { type: "cut", text: "hello", afterChars: 3 },
  );
  await expect(openAi({ stream: true }).then((response) => response.text())).rejects.toThrow("terminated");
  await expect(openAi().then((response) => response.text())).rejects.toThrow("terminated");
});

test("a hanging request ends with the server", async () => {
  server.enqueue({ type: "hang" });
  const hanging = openAi().then(
    () => "answered",
    () => "ended",
  );
  await expect.poll(() => server.requests.length).toBe(1);
  await server.close();
  expect(await hanging).toBe("ended");
  server = await startModelServer();
});

test("a request without a scripted reply gets 400, and an unknown path 404", async () => {
  expect((await openAi()).status).toBe(400);
  expect((await ask(`${server.openAiUrl}/embeddings`, {})).status).toBe(404);
});

test("a function chooses the reply by the request, and every request is recorded in order", async () => {
  server.script(({ body, index }) => answer(`${String(index)} ${JSON.stringify(body["messages"])}`));
  await openAi({ messages: [] });
  const second = await anthropic({ messages: ["x"] });
  expect(await second.json()).toMatchObject({ content: [{ text: '1 ["x"]' }] });
  expect(server.requests.map(({ protocol, body }) => [protocol, body])).toEqual([
    ["openai", { messages: [] }],
    ["anthropic", { messages: ["x"] }],
  ]);
});

test("plain text and JSON values are short forms of answers, and raw bytes are sent unchanged", async () => {
  server.enqueue("plain", { steps: [] }, { type: "raw", status: 200, contentType: "text/html", body: "<p>" });
  expect(await (await openAi()).json()).toMatchObject({ choices: [{ message: { content: "plain" } }] });
  expect(await (await openAi()).json()).toMatchObject({
    choices: [{ message: { content: '{"steps":[]}' } }],
  });
  expect(await (await openAi()).text()).toBe("<p>");
});
