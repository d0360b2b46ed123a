import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { execPath } from "node:process";
import { startModelServer } from "@planwright/testing";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createOneModel, createSlots } from "../src/calls/model-caller.ts";
import { type CallMeter, ModelSettingsSchema, type NamedModel, parseModelSetting } from "../src/index.ts";

const PLAN = { steps: [] };
const { signal } = new AbortController();
const asked = { messages: [{ role: "user" as const, content: "q" }], signal };

let server: Awaited<ReturnType<typeof startModelServer>>;
/** Received requests and waits in milliseconds, in order. */
let events: (string | number)[];
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  events = [];
});

const named = (): NamedModel => {
  const setting = parseModelSetting("openai:x");
  if (setting.kind === "offline") throw new TypeError("openai:x names a model");
  return setting;
};
const modelWith = (parts: Partial<Parameters<typeof createOneModel>[0]> = {}) =>
  createOneModel({
    named: named(),
    settings: ModelSettingsSchema.parse({
      MODEL: "openai:x",
      OPENAI_BASE_URL: server.openAiUrl,
      MODEL_MAX_RETRIES: 3,
    }),
    slots: createSlots(1),
    waitFor: async (ms) => void events.push(ms),
    ...parts,
  });

test("the wait before each retry is exactly its Retry-After", async () => {
  const replies = [
    { type: "error", status: 429, retryAfterSeconds: 7 },
    { type: "error", status: 503, retryAfterSeconds: 9 },
  ] as const;
  let index = 0;
  server.script(() => {
    events.push("request");
    return replies[index++] ?? { type: "answer", text: JSON.stringify(PLAN) };
  });
  const answer = await modelWith().ask(asked, null);
  expect(JSON.parse(answer.text)).toEqual(PLAN);
  expect(events).toEqual(["request", 7_000, "request", 9_000, "request"]);
});

test("without a Retry-After the bound of the wait doubles with each retry", async () => {
  server.script(() => ({ type: "error", status: 503 }));
  await expect(modelWith().ask(asked, null)).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
  expect(events).toHaveLength(3);
  for (const [index, ms] of events.entries()) expect(ms).toBeLessThan(500 * 2 ** index);
});

test.each([
  { maxWaitMs: 7_000, sent: 1 },
  { maxWaitMs: 7_001, sent: 2 },
])(
  "with waits below $maxWaitMs ms only, a Retry-After of 7 s leaves $sent calls",
  async ({ maxWaitMs, sent }) => {
    let calls = 0;
    server.script(() => {
      calls += 1;
      return calls > 1
        ? { type: "answer", text: "{}" }
        : { type: "error", status: 429, retryAfterSeconds: 7 };
    });
    const meter = { maxWaitMs, begin: async () => ({ end: async () => undefined }) };
    const asking = modelWith().ask({ ...asked, meter }, null);
    const ended = await asking.then(
      () => 2,
      () => 1,
    );
    expect(ended).toBe(sent);
    expect(calls).toBe(sent);
  },
);

test("the slot is free while a call waits", async () => {
  const slots = createSlots(1);
  let isAsked = false;
  server.script(() => {
    if (isAsked) return { type: "answer", text: "{}" };
    isAsked = true;
    return { type: "error", status: 429, retryAfterSeconds: 7 };
  });
  const waitFor = async () => {
    const release = await slots.acquire(AbortSignal.timeout(20_000));
    release();
    events.push("free");
  };
  await modelWith({ slots, waitFor }).ask(asked, null);
  expect(events).toEqual(["free"]);
});

test("a try whose time is over before it has a slot is no call, and costs nothing", async () => {
  const slots = createSlots(1);
  const begun: number[] = [];
  const meter: CallMeter = {
    async begin({ attempt }) {
      begun.push(attempt);
      return { end: async ({ spent }) => void events.push(spent) };
    },
  };
  server.script(() => ({ type: "error", status: 503 }));
  const settings = ModelSettingsSchema.parse({
    MODEL: "openai:x",
    OPENAI_BASE_URL: server.openAiUrl,
    MODEL_TIMEOUT_MS: 1_000,
  });
  const waitFor = async () => {
    const release = await slots.acquire(signal);
    setTimeout(release, 1_200);
  };
  const asking = modelWith({ slots, settings, waitFor }).ask({ ...asked, meter }, null);
  await expect(asking).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
  expect({ begun, events }).toEqual({ begun: [1], events: ["none"] });
  (await slots.acquire(signal))();
});

/** A server that accepts no connection: its process is blocked, and its queue is full. */
async function startBlockedServer(): Promise<string> {
  const code = `const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () =>
    process.stdout.write(String(server.address().port), () =>
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)));`;
  const blocked = spawn(execPath, ["-e", code]);
  onTestFinished(() => void blocked.kill("SIGKILL"));
  const [port] = await once(blocked.stdout, "data");
  for (let count = 0; count < 4; count += 1) {
    const queued = connect(Number(port), "127.0.0.1");
    queued.on("error", () => undefined);
    onTestFinished(() => void queued.destroy());
  }
  return `http://127.0.0.1:${port}/v1`;
}

test("a call that gets no connection in time costs nothing, with each provider", async () => {
  const address = await startBlockedServer();
  const meter: CallMeter = { begin: async () => ({ end: async ({ spent }) => void events.push(spent) }) };
  const asking = ["openai:x", "anthropic:x", "google:x"].map((model) => {
    const setting = parseModelSetting(model);
    if (setting.kind === "offline") throw new TypeError(`${model} names a model`);
    const settings = ModelSettingsSchema.parse({
      MODEL: model,
      MODEL_MAX_RETRIES: 0,
      OPENAI_BASE_URL: address,
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: "k",
      GOOGLE_BASE_URL: address,
      GOOGLE_API_KEY: "k",
    });
    const slots = createSlots(1);
    return modelWith({ named: setting, settings, slots }).ask({ ...asked, meter }, null);
  });
  const ended = await Promise.allSettled(asking);
  expect(ended.map((each) => each.status === "rejected" && each.reason.code)).toEqual(
    Array(3).fill("MODEL_UNREACHABLE"),
  );
  expect(events).toEqual(["none", "none", "none"]);
}, 30_000);

test("by default the wait takes real time", async () => {
  const at: number[] = [];
  server.script(() => {
    at.push(performance.now());
    return at.length > 1
      ? { type: "answer", text: "{}" }
      : { type: "error", status: 429, retryAfterSeconds: 0.2 };
  });
  await modelWith({ waitFor: undefined }).ask(asked, null);
  // Timers may be a millisecond early.
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(195);
});
