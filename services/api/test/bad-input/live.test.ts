/** Subscriptions that break the protocols, or ask for what they may not, over WebSocket and as server-sent events. */
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { z } from "zod";
import { type RunningApi, startTestApi } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import {
  expectClean,
  expectSpeaks,
  expectWell,
  readCases,
  slowestAnswer,
  timed,
  traces,
} from "./refusals.ts";

const ErrorSchema = z.strictObject({ code: z.string(), says: z.string().optional() });
const SocketCaseSchema = z.strictObject({
  name: z.string(),
  path: z.string().default("/graphql"),
  protocol: z.string().default("graphql-transport-ws"),
  origin: z.string().optional(),
  /** Messages, one after the other; text goes as it is, everything else as JSON. */
  send: z.array(z.json()).default([]),
  /** Sends bytes instead of text. */
  binary: z.boolean().default(false),
  /** The connection is not even opened. */
  status: z.number().int().optional(),
  /** The connection is closed with this code. */
  closed: z.number().int().optional(),
  /** A message of type error, with this error first. */
  error: ErrorSchema.optional(),
});
const StreamCaseSchema = z.strictObject({
  name: z.string(),
  query: z.string(),
  variables: z.record(z.string(), z.json()).optional(),
  operationName: z.string().optional(),
  error: ErrorSchema,
});
const { sockets, streams } = readCases(
  "live.json",
  z.strictObject({ sockets: z.array(SocketCaseSchema), streams: z.array(StreamCaseSchema) }),
);

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi();
});
afterAll(() => running.close());

/** What became of a connection: refused, closed, or told of an error. */
async function speak(each: z.infer<typeof SocketCaseSchema>): Promise<{
  status?: number | undefined;
  closed?: number | undefined;
  reason?: string;
  errors?: { message: string; extensions: Record<string, unknown> }[];
}> {
  const url = new URL(each.path, running.api.url.replace("http", "ws"));
  const headers = each.origin === undefined ? {} : { origin: each.origin };
  const socket = new WebSocket(url, each.protocol === "" ? [] : [each.protocol], { headers });
  try {
    // Rejects on any error of the socket, of which `said` tells.
    const accepted = once(socket, "accepted").catch(() => undefined);
    const said = new Promise<Awaited<ReturnType<typeof speak>>>((resolve) => {
      socket.on("unexpected-response", (_request, response) => resolve({ status: response.statusCode }));
      socket.on("close", (closed, reason) => resolve({ closed, reason: reason.toString() }));
      // A client that hears of no protocol closes by itself, and this is what it then says.
      socket.on("error", ({ message }) => message.includes("subprotocol") && resolve({ closed: 4406 }));
      socket.on("message", (data) => {
        const message = JSON.parse(String(data));
        if (message.type === "connection_ack") socket.emit("accepted");
        if (message.type === "error") resolve({ errors: message.payload });
        if (message.type === "next" && message.payload.errors) resolve({ errors: message.payload.errors });
      });
    });
    if (each.status === undefined) await Promise.race([once(socket, "open").catch(() => undefined), said]);
    for (const message of each.send) {
      const text = typeof message === "string" ? message : JSON.stringify(message);
      socket.send(expandMacros(text), { binary: each.binary });
      if (text.includes('"connection_init"')) await Promise.race([accepted, said]);
    }
    return await said;
  } finally {
    socket.terminate();
  }
}

function expectError(
  errors: Awaited<ReturnType<typeof speak>>["errors"],
  expected: { code: string; says?: string | undefined },
): void {
  const [error] = errors ?? [];
  expect(error).toMatchObject({ extensions: { code: expected.code } });
  expectClean(JSON.stringify(errors));
  expectSpeaks(error?.message, error?.extensions["remedy"]);
  if (expected.says) expect(error?.message).toMatch(new RegExp(expected.says));
}

describe("WebSocket", () => {
  afterAll(() => expectWell(running));
  test.each(sockets)("$name", async (each) => {
    const before = await traces(running);
    const said = await timed(each.name, () => speak(each));
    if (each.error) expectError(said.errors, each.error);
    else expect(said).toMatchObject(each.status ? { status: each.status } : { closed: each.closed });
    expectClean(said.reason ?? "");
    expect(await traces(running)).toEqual(before);
  });
});

describe("server-sent events", () => {
  afterAll(() => expectWell(running));
  test.each(streams)("$name: $error.code", async ({ name, error, ...params }) => {
    const before = await traces(running);
    const answer = await timed(name, () =>
      running.send("/graphql/stream", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: expandMacros(JSON.stringify(params)),
      }),
    );
    const [, data] = /^data: (.*)$/m.exec(answer.text) ?? [];
    expectError(JSON.parse(data ?? answer.text).errors, error);
    expect(await traces(running)).toEqual(before);
  });
});

test("the slowest answer is told", async ({ annotate }) => {
  await annotate(slowestAnswer());
});
