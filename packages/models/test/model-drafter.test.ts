import { freePort } from "@planwright/local";
import { readModelAnswer } from "@planwright/reading";
import { answer, type ModelServer, type ScriptedReply, startModelServer } from "@planwright/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { baseUrlVariable, keyVariable } from "../src/draft/draft-error.ts";
import { createDrafter, DraftError, type DraftInput, type ModelSettingsInput } from "../src/index.ts";
import { PROVIDER_NAMES, PROVIDERS, type Provider } from "../src/providers/registry.ts";
import { BLOG } from "./catalogues/blog.ts";

/** The page of a proxy, in place of an answer. */
const PAGE = `<!doctype html><html><head><style>p { color: red }</style><title>Sign in</title></head>
<body><script>var token = "k_0123456789012345678901234567890";</script>
<p>Welcome to the proxy of <b>Example</b> k_0123456789012345678901234567890</p></body></html>`;
const PLAN = { steps: [{ id: "listAuthors", tool: "listAuthors", arguments: {} }] };

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

const input = (rest: Partial<DraftInput> = {}): DraftInput => ({
  query: "list the authors",
  tools: BLOG,
  signal: new AbortController().signal,
  ...rest,
});

/** A drafter with a model of a provider; the scripted server replaces the provider. */
function drafterOf(provider: Provider, rest: ModelSettingsInput = {}) {
  return createDrafter({
    MODEL: `${provider}:test-model`,
    [keyVariable(provider)]: "key-1",
    [baseUrlVariable(provider)]: server.urlFor(PROVIDERS[provider].testProtocol),
    MODEL_MAX_RETRIES: 0,
    ...rest,
  });
}
const openAi = (rest?: ModelSettingsInput) => drafterOf("openai", rest);
const anthropic = (rest?: ModelSettingsInput) => drafterOf("anthropic", rest);
const google = (rest?: ModelSettingsInput) => drafterOf("google", rest);
const mistral = (rest?: ModelSettingsInput) => drafterOf("mistral", rest);

async function failureOf(draft: Promise<unknown>): Promise<DraftError> {
  const error: unknown = await draft.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof DraftError) return error;
  throw new TypeError("the draft did not fail with a DraftError", { cause: error });
}

describe.each(PROVIDER_NAMES)("%s", (provider) => {
  const create = (rest?: ModelSettingsInput) => drafterOf(provider, rest);

  test("an answer has its text, usage, finish reason and the sent messages", async () => {
    const usage = { inputTokens: 321, outputTokens: 45, cachedInputTokens: 256 };
    server.enqueue(answer(PLAN, { usage }));
    const draft = await create().draft(input());
    expect(JSON.parse(draft.text)).toEqual(PLAN);
    expect(draft.usage).toEqual(usage);
    expect(["stop", "end_turn", "STOP"]).toContain(draft.finishReason);
    expect(draft.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(server.requests[0]?.isStream).toBe(true);
  });

  const failures: { name: string; reply: ScriptedReply; code: string; retryable: boolean }[] = [
    {
      name: "a wrong key",
      reply: { type: "error", status: 401 },
      code: "MODEL_UNAUTHORIZED",
      retryable: false,
    },
    {
      name: "a forbidden key",
      reply: { type: "error", status: 403 },
      code: "MODEL_UNAUTHORIZED",
      retryable: false,
    },
    {
      name: "an unknown model",
      reply: { type: "error", status: 404 },
      code: "MODEL_NOT_FOUND",
      retryable: false,
    },
    {
      name: "a refused request",
      reply: { type: "error", status: 400 },
      code: "MODEL_REQUEST_INVALID",
      retryable: false,
    },
    {
      name: "too many requests",
      reply: { type: "error", status: 429, retryAfterSeconds: 7 },
      code: "MODEL_RATE_LIMITED",
      retryable: true,
    },
    {
      name: "a server error",
      reply: { type: "error", status: 500 },
      code: "MODEL_UNREACHABLE",
      retryable: true,
    },
    {
      name: "an answer of full length",
      reply: answer('{"steps":[{"id":"li', { finishReason: "length" }),
      code: "MODEL_ANSWER_TRUNCATED",
      retryable: false,
    },
    {
      name: "a page in the place of an API",
      reply: { type: "raw", status: 200, contentType: "text/html; charset=utf-8", body: PAGE },
      code: "MODEL_ENDPOINT_WRONG",
      retryable: false,
    },
    {
      name: "a JSON document of another service",
      reply: {
        type: "raw",
        status: 200,
        contentType: "application/json",
        body: '{"status":"ok","version":3}',
      },
      code: "MODEL_ENDPOINT_WRONG",
      retryable: false,
    },
    {
      name: "a cut stream",
      reply: { type: "cut", text: JSON.stringify(PLAN), afterChars: 40 },
      code: "MODEL_UNREACHABLE",
      retryable: true,
    },
    {
      name: "a stream that a proxy ends early",
      reply: { type: "cut", text: JSON.stringify(PLAN), afterChars: 40, isClean: true },
      code: "MODEL_UNREACHABLE",
      retryable: true,
    },
    {
      name: "an account without credit",
      reply: { type: "error", status: 402 },
      code: "MODEL_QUOTA_EXHAUSTED",
      retryable: false,
    },
    {
      name: "an overloaded provider",
      reply: { type: "error", status: 503 },
      code: "MODEL_UNREACHABLE",
      retryable: true,
    },
  ];

  test.each(failures)("$name gives $code", async ({ reply, code, retryable }) => {
    server.script(() => reply);
    const error = await failureOf(create().draft(input()));
    expect(error.code).toBe(code);
    expect(error.retryable).toBe(retryable);
    expect(error.partial?.messages).toHaveLength(2);
    expect(error.message).not.toContain("key-");
  });

  test("the error for a page has its address, its type and its first words, and no secrets", async () => {
    server.script(() => ({ type: "raw", status: 200, contentType: "text/html", body: PAGE }));
    const error = await failureOf(create().draft(input()));
    expect(error.message).toMatch(
      /^The server at http:\/\/127\.0\.0\.1:\d+\/\S+ is not the API of \w+:\S+: HTTP 200 with text\/html that begins "Sign in Welcome to the proxy of Example …"; check \w+_BASE_URL/,
    );
    expect(error.message).not.toContain("k_0123");
  });

  test("the error for a JSON document that is no answer has its address and field names, without values", async () => {
    const body = '{"status":"ok","token":"k_0123"}';
    server.script(() => ({ type: "raw", status: 200, contentType: "application/json", body }));
    const error = await failureOf(create().draft(input()));
    expect(error.message).toMatch(
      /^The server at http:\/\/127\.0\.0\.1:\d+\/\S+ is not the API of \w+:\S+: HTTP 200 with application\/json that begins "\{ status, token \}"; check/,
    );
    expect(error.message).not.toContain("k_0123");
  });

  test("the error for an unreachable server has its address, without the query", async () => {
    const url = `http://127.0.0.1:${await freePort()}/v1`;
    const setting = `${url}?key=hidden`;
    const settings = { [baseUrlVariable(provider)]: setting };
    const error = await failureOf(create(settings).draft(input()));
    expect(error.code).toBe("MODEL_UNREACHABLE");
    expect(error.message).toContain(`cannot be reached at ${url} (ECONNREFUSED); check `);
    expect(error.message).not.toContain("hidden");
  });

  test("a call that hangs ends after the time limit", async () => {
    server.enqueue({ type: "hang" });
    const error = await failureOf(create({ MODEL_TIMEOUT_MS: 200 }).draft(input()));
    expect(error.code).toBe("MODEL_TIMEOUT");
  });

  test("an endpoint without a listener gives MODEL_UNREACHABLE", async () => {
    const drafter = create();
    await server.close();
    const error = await failureOf(drafter.draft(input()));
    expect(error.code).toBe("MODEL_UNREACHABLE");
    server = await startModelServer();
  });

  test("a temporary failure is retried", async () => {
    server.enqueue(
      { type: "error", status: 429, retryAfterSeconds: 0 },
      { type: "error", status: 500 },
      PLAN,
    );
    const draft = await create({ MODEL_MAX_RETRIES: 2 }).draft(input());
    expect(JSON.parse(draft.text)).toEqual(PLAN);
    expect(server.requests).toHaveLength(3);
  });

  test("an aborted draft rejects with the reason of the signal", async () => {
    server.enqueue({ type: "hang" });
    const stop = new AbortController();
    const drafting = create().draft(input({ signal: stop.signal }));
    const reason = new DOMException("stopping", "AbortError");
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort(reason);
    await expect(drafting).rejects.toBe(reason);
  });

  test("a request that may need the plan language gets all of it, in the rules and in the form", async () => {
    const call = { id: "d", tool: "deleteAuthor", arguments: '{"id":"<<item._id>>"}', dependsOn: [] };
    const looped = { ...call, forEach: "<<listAuthors.authors>>", when: '{"exists":"<<listAuthors>>"}' };
    const outputs = [{ name: "deleted", value: "<<d.summary.ok>>" }];
    const written = { steps: [...PLAN.steps, looped], outputs };
    server.enqueue(answer(written), PLAN);
    const drafter = create();
    const draft = await drafter.draft(
      input({ query: "If there are authors, delete all, only tell me that" }),
    );
    await drafter.draft(input({ query: "add Bob" }));
    const read = readModelAnswer(draft.text, { tools: [{ name: "listAuthors" }, { name: "deleteAuthor" }] });
    expect(read.ok && read.plan).toMatchObject({
      steps: [{ id: "listAuthors" }, { forEach: { items: "<<listAuthors.authors>>" }, when: {} }],
      outputs: { deleted: "<<d.summary.ok>>" },
    });
    const [withLanguage = "", plain = ""] = server.requests.map(({ body }) => JSON.stringify(body));
    for (const field of ["forEach", "when", "outputs"]) {
      // Once as a field of the form, and once in the rules as the model has to write it.
      expect(withLanguage).toContain(`"${field}":{"type":`);
      expect(withLanguage).toContain(`\\"${field}\\"`);
      expect(plain).not.toContain(`"${field}`);
      expect(plain).not.toContain(`\\"${field}\\"`);
    }
  });

  test("a server without structured output gets the whole plan language in the prompt", async () => {
    server.script(({ body }) =>
      /json_schema|responseJsonSchema|"tool_choice"/.test(JSON.stringify(body))
        ? { type: "error", status: 400, message: "json_schema and tool_choice are not supported" }
        : answer(PLAN),
    );
    await create().draft(input({ query: "delete all authors" }));
    const last = JSON.stringify(server.requests.at(-1)?.body);
    expect(last).toContain('\\"forEach\\"');
    expect(last).not.toContain('"forEach":{"type":');
  });

  test("a repair sends the last answer and exactly the diagnostics", async () => {
    server.enqueue(PLAN);
    const draft = await create().draft(
      input({
        repair: {
          previous: '{"steps":[]}',
          diagnostics: [
            {
              code: "TOOL_UNKNOWN",
              severity: "error",
              stepId: "s1",
              path: "steps[0].tool",
              message: "no such tool",
              suggestion: "listAuthors",
            },
          ],
        },
      }),
    );
    expect(draft.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(draft.messages[2]?.content).toBe('{"steps":[]}');
    expect(draft.messages[3]?.content).toContain(
      '{"code":"TOOL_UNKNOWN","stepId":"s1","path":"steps[0].tool","message":"no such tool","suggestion":"listAuthors"}',
    );
  });
});

test("openai: a refusal gives MODEL_REFUSED with the text of the model", async () => {
  server.enqueue({ type: "answer", refusal: "I cannot help with that." });
  const error = await failureOf(openAi().draft(input()));
  expect(error.code).toBe("MODEL_REFUSED");
  expect(error.message).toContain("I cannot help with that.");
});

test("openai: a filtered answer gives MODEL_CONTENT_FILTERED", async () => {
  server.enqueue(answer("", { finishReason: "content_filter" }));
  expect((await failureOf(openAi().draft(input()))).code).toBe("MODEL_CONTENT_FILTERED");
});

test("anthropic: a refusal gives MODEL_REFUSED", async () => {
  server.enqueue(answer("I can't.", { finishReason: "content_filter" }));
  expect((await failureOf(anthropic().draft(input()))).code).toBe("MODEL_REFUSED");
});

test.each(PROVIDER_NAMES)("%s: an error with 429 has the time to wait", async (provider) => {
  server.enqueue({ type: "error", status: 429, retryAfterSeconds: 7 });
  expect((await failureOf(drafterOf(provider).draft(input()))).facts).toMatchObject({ retryAfterMs: 7_000 });
});

test("mistral: a request has no field that Mistral refuses, and the answer still has its usage", async () => {
  server.enqueue(answer(PLAN, { usage: { inputTokens: 7, outputTokens: 3 } }));
  expect((await mistral().draft(input())).usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  expect(Object.keys(server.requests[0]?.body ?? {}).toSorted()).toEqual([
    "max_tokens",
    "messages",
    "model",
    "response_format",
    "stream",
  ]);
});

test("mistral: an answer that fills the context of the model is cut off", async () => {
  const chunk = { choices: [{ index: 0, delta: { content: "{" }, finish_reason: "model_length" }] };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  server.enqueue({ type: "raw", status: 200, contentType: "text/event-stream", body });
  expect((await failureOf(mistral().draft(input()))).code).toBe("MODEL_ANSWER_TRUNCATED");
});

test("openai: an exhausted quota is not a temporary limit", async () => {
  const body = JSON.stringify({ error: { message: "quota", type: "x", code: "insufficient_quota" } });
  server.script(() => ({ type: "raw", status: 429, contentType: "application/json", body }));
  const error = await failureOf(openAi({ MODEL_MAX_RETRIES: 2 }).draft(input()));
  expect(error).toMatchObject({
    code: "MODEL_QUOTA_EXHAUSTED",
    message: expect.stringContaining("OPENAI_API_KEY"),
  });
  expect(server.requests).toHaveLength(1);
});

test("google: a blocked prompt gives MODEL_CONTENT_FILTERED", async () => {
  server.enqueue({ type: "answer", refusal: "blocked" });
  expect((await failureOf(google().draft(input()))).code).toBe("MODEL_CONTENT_FILTERED");
});

test("google: an answer withheld by the safety filter gives MODEL_CONTENT_FILTERED", async () => {
  server.enqueue(answer('{"steps"', { finishReason: "content_filter" }));
  expect((await failureOf(google().draft(input()))).code).toBe("MODEL_CONTENT_FILTERED");
});

test("google: a retry waits as long as RetryInfo says", async () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "90s" }];
  const body = JSON.stringify({ error: { code: 429, message: "quota", details } });
  server.enqueue({ type: "raw", status: 429, contentType: "application/json", body });
  expect((await failureOf(google().draft(input()))).facts).toMatchObject({ retryAfterMs: 90_000 });
});

test("openai: another server at the base URL needs no key", async () => {
  server.enqueue(PLAN);
  const drafter = createDrafter({
    MODEL: "openai:llama",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_MAX_RETRIES: 0,
  });
  expect(JSON.parse((await drafter.draft(input())).text)).toEqual(PLAN);
});

test.each([
  { MODEL: "openai:gpt-test", variable: "OPENAI_API_KEY" },
  { MODEL: "anthropic:claude-test", variable: "ANTHROPIC_API_KEY" },
  { MODEL: "google:gemini-test", variable: "GOOGLE_API_KEY" },
  { MODEL: "mistral:mistral-test", variable: "MISTRAL_API_KEY" },
  { MODEL: "compatible:llama", variable: "COMPATIBLE_BASE_URL" },
])("$MODEL without a key is refused at once, naming $variable", ({ MODEL, variable }) => {
  expect(() => createDrafter({ MODEL })).toThrow(
    expect.objectContaining({ code: "MODEL_KEY_MISSING", facts: expect.objectContaining({ variable }) }),
  );
});

test.each(["gpt-4o", "openai:", "cohere:x", ":x"])("MODEL=%s is refused", (MODEL) => {
  expect(() => createDrafter({ MODEL })).toThrow(expect.objectContaining({ code: "MODEL_SETTING_INVALID" }));
});

test("without tools no call is sent", async () => {
  const error = await failureOf(openAi().draft(input({ tools: [] })));
  expect(error.code).toBe("NO_TOOLS");
  expect(server.requests).toHaveLength(0);
});
