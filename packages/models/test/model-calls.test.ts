import { setTimeout as wait } from "node:timers/promises";
import { answer, type ModelRequest, type ModelServer, startModelServer } from "@planwright/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCaller } from "../src/calls/model-caller.ts";
import {
  type CallEnd,
  type CallMeter,
  type CallToCome,
  createDrafter,
  type DraftInput,
  type ModelSettingsInput,
  ModelSettingsSchema,
} from "../src/index.ts";
import { BLOG } from "./catalogues/blog.ts";

const PLAN = { steps: [{ id: "listAuthors", tool: "listAuthors", arguments: {} }] };

let server: ModelServer;
let fallbackServer: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
  fallbackServer = await startModelServer();
});
afterEach(() => Promise.all([server.close(), fallbackServer.close()]));

const input = (rest: Partial<DraftInput> = {}): DraftInput => ({
  query: "list the authors",
  tools: BLOG,
  signal: new AbortController().signal,
  ...rest,
});

const openAi = (rest: ModelSettingsInput = {}): ModelSettingsInput => ({
  MODEL: "openai:gpt-test",
  OPENAI_BASE_URL: server.openAiUrl,
  MODEL_MAX_RETRIES: 0,
  ...rest,
});

const PROVIDERS = [
  { provider: "openai", settings: openAi },
  {
    provider: "anthropic",
    settings: (rest: ModelSettingsInput = {}) => ({
      MODEL: "anthropic:claude-test",
      ANTHROPIC_API_KEY: "key-2",
      ANTHROPIC_BASE_URL: server.anthropicUrl,
      ...rest,
    }),
  },
  {
    provider: "google",
    settings: (rest: ModelSettingsInput = {}) => ({
      MODEL: "google:gemini-test",
      GOOGLE_API_KEY: "key-3",
      GOOGLE_BASE_URL: server.googleUrl,
      ...rest,
    }),
  },
];

/** A meter that keeps the calls and their ends. */
function recorder(): CallMeter & { calls: (CallToCome & Partial<CallEnd>)[] } {
  const calls: (CallToCome & Partial<CallEnd>)[] = [];
  return {
    calls,
    async begin(call) {
      const entry = { ...call };
      calls.push(entry);
      return { end: async (outcome) => void Object.assign(entry, outcome) };
    },
  };
}

describe.each(PROVIDERS)("$provider", ({ settings }) => {
  test("an answer that was cut in its body is requested again", async () => {
    const cut = { type: "cut", text: JSON.stringify(PLAN), afterChars: 20 } as const;
    server.enqueue(cut, { ...cut, isClean: true }, PLAN);
    const meter = recorder();
    const draft = await createDrafter(settings({ MODEL_MAX_RETRIES: 2 })).draft(input({ meter }));
    expect(JSON.parse(draft.text)).toEqual(PLAN);
    expect(meter.calls).toMatchObject([
      { attempt: 1, spent: "unknown", error: { code: "MODEL_UNREACHABLE" } },
      { attempt: 2, spent: "unknown", error: { code: "MODEL_UNREACHABLE" } },
      { attempt: 3, spent: "complete", error: null },
    ]);
  });

  test("a wait that is longer than the remaining time is not started", async () => {
    server.enqueue({ type: "error", status: 429, retryAfterSeconds: 3_000 }, PLAN);
    const drafting = createDrafter(settings({ MODEL_MAX_RETRIES: 2 })).draft(input());
    await expect(drafting).rejects.toMatchObject({ code: "MODEL_RATE_LIMITED" });
    expect(server.requests).toHaveLength(1);
  });

  test("the answer is requested with the schema, and in the next form when the provider refuses that", async () => {
    const isSchema = ({ body }: ModelRequest) =>
      /json_?schema/i.test(JSON.stringify({ ...body, messages: 0, contents: 0 }));
    server.script((request) =>
      isSchema(request)
        ? { type: "error", status: 400, message: "json_schema / responseJsonSchema is not supported" }
        : answer(PLAN),
    );
    const drafter = createDrafter(settings());
    expect(JSON.parse((await drafter.draft(input())).text)).toEqual(PLAN);
    expect(JSON.parse((await drafter.draft(input())).text)).toEqual(PLAN);
    expect(server.requests.map(isSchema)).toEqual([true, false, false]);
  });
});

test.each([
  { provider: "openai", message: "This model's maximum context length is 8192 tokens." },
  { provider: "anthropic", message: "prompt is too long: 210000 tokens > 200000 maximum" },
])(
  "$provider: a prompt that is too long is refused once, and costs nothing",
  async ({ provider, message }) => {
    server.script(() => ({ type: "error", status: 400, message }));
    const settings = PROVIDERS.find((one) => one.provider === provider)?.settings ?? openAi;
    const meter = recorder();
    const drafting = createDrafter(settings({ MODEL_MAX_RETRIES: 2 })).draft(input({ meter }));
    await expect(drafting).rejects.toMatchObject({ code: "MODEL_REQUEST_INVALID", facts: { status: 400 } });
    expect(meter.calls).toMatchObject([{ spent: "none", error: { code: "MODEL_REQUEST_INVALID" } }]);
  },
);

test.each(PROVIDERS.slice(0, 2))(
  "$provider: a model that must call a tool answers with the arguments",
  async ({ settings }) => {
    server.script(({ body }) =>
      body["tools"]
        ? { type: "answer", toolCalls: [{ name: "plan", arguments: PLAN }] }
        : { type: "error", status: 400, message: "json_schema, output_config: unknown" },
    );
    const draft = await createDrafter(settings()).draft(input());
    expect(JSON.parse(draft.text)).toEqual(PLAN);
  },
);

test("openai: a server that supports neither schemas nor tools gets the prompt only", async () => {
  server.script(({ body }) =>
    body["tools"] || body["response_format"]
      ? { type: "error", status: 400, message: "tools and response_format are not supported" }
      : answer(PLAN),
  );
  expect(JSON.parse((await createDrafter(openAi()).draft(input())).text)).toEqual(PLAN);
  expect(server.requests).toHaveLength(3);
});

describe("with a fallback model", () => {
  const both = (rest: ModelSettingsInput = {}) =>
    createDrafter(
      openAi({
        FALLBACK_MODEL: "compatible:spare",
        COMPATIBLE_BASE_URL: fallbackServer.openAiUrl,
        ...rest,
      }),
    );

  test.each([
    { name: "is not reachable", reply: { type: "error", status: 503 }, code: "MODEL_UNREACHABLE" },
    { name: "takes no more calls", reply: { type: "error", status: 429 }, code: "MODEL_RATE_LIMITED" },
    { name: "refuses the key", reply: { type: "error", status: 401 }, code: "MODEL_UNAUTHORIZED" },
    { name: "is not known", reply: { type: "error", status: 404 }, code: "MODEL_NOT_FOUND" },
    { name: "has no credit", reply: { type: "error", status: 402 }, code: "MODEL_QUOTA_EXHAUSTED" },
    { name: "hangs", reply: { type: "hang" }, code: "MODEL_TIMEOUT" },
  ] as const)("it is called when the first one $name, and the meter records why", async ({ reply, code }) => {
    server.script(() => reply);
    fallbackServer.enqueue(PLAN);
    const meter = recorder();
    const draft = await both({ MODEL_TIMEOUT_MS: 3_000 }).draft(input({ meter }));
    expect(draft).toMatchObject({ model: "compatible:spare", text: JSON.stringify(PLAN) });
    expect(meter.calls).toMatchObject([
      { model: "openai:gpt-test", fallbackFor: null, error: { code } },
      { model: "compatible:spare", fallbackFor: code, error: null },
    ]);
  });

  test.each([
    { name: "a refusal", reply: { type: "answer", refusal: "no" }, code: "MODEL_REFUSED" },
    { name: "a cut answer", reply: answer("{", { finishReason: "length" }), code: "MODEL_ANSWER_TRUNCATED" },
    { name: "a bad request", reply: { type: "error", status: 400 }, code: "MODEL_REQUEST_INVALID" },
  ] as const)("it is not called after $name", async ({ reply, code }) => {
    server.script(() => reply);
    await expect(both().draft(input())).rejects.toMatchObject({ code });
    expect(fallbackServer.requests).toHaveLength(0);
  });

  test("when neither is available, the error has both reasons and the code of the first", async () => {
    server.script(() => ({ type: "error", status: 401 }));
    fallbackServer.script(() => ({ type: "error", status: 500 }));
    await expect(both().draft(input())).rejects.toMatchObject({
      code: "MODEL_UNAUTHORIZED",
      retryable: true,
      message: expect.stringMatching(
        /openai:gpt-test at \S+ refused the key.*compatible:spare cannot be reached/,
      ),
    });
  });

  test("a fallback without its settings is refused at once", () => {
    expect(() => createDrafter(openAi({ FALLBACK_MODEL: "anthropic:x" }))).toThrow(
      expect.objectContaining({ code: "MODEL_KEY_MISSING" }),
    );
    expect(() => createDrafter(openAi({ FALLBACK_MODEL: "offline" }))).toThrow(
      expect.objectContaining({
        code: "MODEL_SETTING_INVALID",
        message: expect.stringContaining("FALLBACK_MODEL"),
      }),
    );
  });
});

describe("slots of a provider", () => {
  /** Holds calls until it is opened, and counts the held calls. */
  function gate() {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const counts = { running: 0, max: 0 };
    return {
      counts,
      open: () => open(),
      async pass() {
        counts.running += 1;
        counts.max = Math.max(counts.max, counts.running);
        await opened;
        counts.running -= 1;
        return answer(PLAN);
      },
    };
  }
  /** Waits until everything has started that needs no request over the network. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const reaches = async (counts: { running: number }, wanted: number) => {
    await expect.poll(() => counts.running).toBe(wanted);
  };

  test("are all used, and never more, while other calls wait", async () => {
    const held = gate();
    server.script(held.pass);
    const meter = recorder();
    const drafter = createDrafter(openAi({ MODEL_MAX_CONCURRENCY: 3 }));
    const drafts = Promise.all(Array.from({ length: 10 }, () => drafter.draft(input({ meter }))));
    await reaches(held.counts, 3);
    await settled();
    expect(meter.calls).toHaveLength(3);
    held.open();
    await drafts;
    expect(server.requests).toHaveLength(10);
    expect(held.counts.max).toBe(3);
  });

  test("are not shared with another provider", async () => {
    const [first, spare] = [gate(), gate()];
    let isDown = true;
    server.script(() => (isDown ? { type: "error", status: 503 } : first.pass()));
    fallbackServer.script(spare.pass);
    const drafter = createDrafter(
      openAi({
        MODEL_MAX_CONCURRENCY: 1,
        FALLBACK_MODEL: "compatible:spare",
        COMPATIBLE_BASE_URL: fallbackServer.openAiUrl,
      }),
    );
    const one = drafter.draft(input());
    await reaches(spare.counts, 1);
    isDown = false;
    const other = drafter.draft(input());
    // The only slot of the fallback's provider is taken; that of the first provider is free.
    await reaches(first.counts, 1);
    first.open();
    spare.open();
    expect([(await one).model, (await other).model]).toEqual(["compatible:spare", "openai:gpt-test"]);
  });

  test("are shared with a fallback of the same provider", async () => {
    const held = gate();
    server.script(({ body }) => (body["model"] === "spare" ? held.pass() : { type: "error", status: 503 }));
    const meter = recorder();
    const drafter = createDrafter(openAi({ MODEL_MAX_CONCURRENCY: 1, FALLBACK_MODEL: "openai:spare" }));
    const one = drafter.draft(input({ meter }));
    await reaches(held.counts, 1);
    const other = drafter.draft(input({ meter }));
    await settled();
    expect(meter.calls.map(({ model }) => model)).toEqual(["openai:gpt-test", "openai:spare"]);
    held.open();
    await Promise.all([one, other]);
    expect([meter.calls.length, held.counts.max]).toEqual([4, 1]);
  });
});

test("the latency includes the time before the model answers or fails", async () => {
  const replies = [answer(PLAN), { type: "error", status: 503 } as const];
  server.script(async () => {
    await wait(120);
    return replies.shift() ?? answer(PLAN);
  });
  const meter = recorder();
  const drafter = createDrafter(openAi());
  const draft = await drafter.draft(input({ meter }));
  await expect(drafter.draft(input({ meter }))).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
  expect(meter.calls[0]?.latencyMs).toBe(draft.latencyMs);
  // Timers may be a millisecond early.
  for (const { latencyMs } of meter.calls) expect(latencyMs).toBeGreaterThanOrEqual(119);
});

test("a call that waits for a slot can be aborted", async () => {
  server.script(() => ({ type: "hang" }));
  const drafter = createDrafter(openAi({ MODEL_MAX_CONCURRENCY: 1 }));
  const stopFirst = new AbortController();
  const stopSecond = new AbortController();
  const first = drafter.draft(input({ signal: stopFirst.signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  const second = drafter.draft(input({ signal: stopSecond.signal }));
  stopSecond.abort(new DOMException("stopping", "AbortError"));
  await expect(second).rejects.toThrow("stopping");
  stopFirst.abort(new DOMException("stopping", "AbortError"));
  await expect(first).rejects.toThrow("stopping");
  expect(server.requests).toHaveLength(1);
});

test("a call that the meter refuses is not sent, and its reason is passed on unchanged", async () => {
  const reason = new TypeError("no more");
  const meter: CallMeter = { begin: () => Promise.reject(reason) };
  const drafter = createDrafter(openAi({ MODEL_MAX_RETRIES: 2 }));
  await expect(drafter.draft(input({ meter }))).rejects.toBe(reason);
  expect(server.requests).toHaveLength(0);
});

test("a meter gets a call before it is sent, with an estimate that is rarely too low", async () => {
  server.enqueue(answer(PLAN, { usage: { inputTokens: 100, outputTokens: 20 } }));
  const meter = recorder();
  await createDrafter(openAi({ MODEL_MAX_OUTPUT_TOKENS: 512 })).draft(input({ meter }));
  expect(meter.calls).toMatchObject([
    { maxOutputTokens: 512, usage: { inputTokens: 100, outputTokens: 20 } },
  ]);
  const sent = JSON.stringify(server.requests[0]?.body["messages"]).length;
  expect(meter.calls[0]?.promptTokens).toBeGreaterThan(sent / 4);
});

test("a call that is aborted before it is sent costs nothing", async () => {
  server.script(() => ({ type: "hang" }));
  const calls: CallEnd[] = [];
  const stop = new AbortController();
  const meter: CallMeter = {
    async begin() {
      stop.abort(new Error("stopped"));
      return { end: async (outcome) => void calls.push(outcome) };
    },
  };
  const drafting = createDrafter(openAi()).draft(input({ meter, signal: stop.signal }));
  await expect(drafting).rejects.toThrow("stopped");
  expect(server.requests).toHaveLength(0);
  expect(calls).toMatchObject([{ spent: "none", error: { code: "CALL_ABORTED" } }]);
});

test("an aborted call is recorded as aborted, with an unknown cost", async () => {
  server.script(() => ({ type: "hang" }));
  const meter = recorder();
  const stop = new AbortController();
  const drafting = createDrafter(openAi()).draft(input({ meter, signal: stop.signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  stop.abort(new DOMException("stopping", "AbortError"));
  await expect(drafting).rejects.toThrow("stopping");
  expect(meter.calls).toMatchObject([{ spent: "unknown", error: { code: "CALL_ABORTED" } }]);
});

test("an endpoint without a listener costs nothing", async () => {
  const meter = recorder();
  const drafter = createDrafter(openAi());
  await server.close();
  await expect(drafter.draft(input({ meter }))).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
  expect(meter.calls).toMatchObject([{ spent: "none" }]);
  server = await startModelServer();
});

test("a model can also be asked for text", async () => {
  server.enqueue(answer("All done."));
  const caller = createCaller(
    { provider: "openai", model: "gpt-test", name: "openai:gpt-test" },
    ModelSettingsSchema.parse(openAi()),
  );
  const { signal } = new AbortController();
  const result = await caller.ask({ messages: [{ role: "user", content: "Tell me." }], signal });
  expect(result).toMatchObject({ text: "All done.", finishReason: "stop", model: "openai:gpt-test" });
  expect(server.requests[0]?.body["response_format"]).toBeUndefined();
});
