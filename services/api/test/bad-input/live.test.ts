/** Subscriptions that break the protocols, or are not allowed, over WebSocket and as server-sent events. */
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { z } from "zod";
import { webSocketClient } from "../web-socket-client.ts";
import { expandMacros } from "./expand-macros.ts";
import { expectClean, expectErrorText, messageOf, readCases, SaysSchema } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const ErrorSchema = z.strictObject({ code: SaysSchema.code, says: SaysSchema.says });
const SocketCaseSchema = z.strictObject({
  name: z.string(),
  path: z.string().default("/graphql"),
  protocol: z.string().default("graphql-transport-ws"),
  origin: z.string().optional(),
  /** Messages, one after another; text is sent as is, everything else as JSON. */
  send: z.array(z.json()).default([]),
  /** Sends bytes instead of text. */
  binary: z.boolean().default(false),
  /** The connection is refused. */
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

let running: RunningSystem;
beforeAll(async () => {
  running = await startRunningSystem("live.json");
});
afterAll(() => running.close());

/** The result of a connection: refused, closed, or an error message. */
async function speak(each: z.infer<typeof SocketCaseSchema>): Promise<{
  status?: number | undefined;
  closed?: number | undefined;
  reason?: string;
  errors?: { message: string; extensions: Record<string, unknown> }[];
}> {
  const url = new URL(each.path, running.url.replace("http", "ws"));
  const headers = each.origin === undefined ? {} : { origin: each.origin };
  const socket = new WebSocket(url, each.protocol === "" ? [] : [each.protocol], { headers });
  try {
    // Rejects on any error of the socket; `outcome` reports that error.
    const accepted = once(socket, "accepted").catch(() => undefined);
    const outcome = new Promise<Awaited<ReturnType<typeof speak>>>((resolve) => {
      socket.on("unexpected-response", (_request, response) => {
        resolve(readText(response).then((text) => ({ status: response.statusCode, ...JSON.parse(text) })));
      });
      socket.on("close", (closed, reason) => resolve({ closed, reason: reason.toString() }));
      // A client that gets no subprotocol closes the connection itself, with this error.
      socket.on("error", ({ message }) => message.includes("subprotocol") && resolve({ closed: 4406 }));
      socket.on("message", (data) => {
        const message = JSON.parse(String(data));
        if (message.type === "connection_ack") socket.emit("accepted");
        if (message.type === "error") resolve({ errors: message.payload });
        if (message.type === "next" && message.payload.errors) resolve({ errors: message.payload.errors });
      });
    });
    if (each.status === undefined) await Promise.race([once(socket, "open").catch(() => undefined), outcome]);
    for (const message of each.send) {
      const text = typeof message === "string" ? message : JSON.stringify(message);
      socket.send(expandMacros(text), { binary: each.binary });
      if (text.includes('"connection_init"')) await Promise.race([accepted, outcome]);
    }
    return await outcome;
  } finally {
    socket.terminate();
  }
}

function expectError(
  errors: Awaited<ReturnType<typeof speak>>["errors"],
  expected: { code: string; says?: string | undefined },
): void {
  expectClean(JSON.stringify(errors));
  const [error] = errors ?? [];
  expectErrorText({ message: error?.message, ...error?.extensions }, expected);
}

describe("WebSocket", () => {
  afterAll(() => running.expectWorking());
  test.each(sockets)("$name", async (each) => {
    const outcome = await running.play(each.name, () => speak(each));
    const { status, closed, error } = each;
    expect(outcome).toMatchObject({ ...(status && { status }), ...(closed && { closed }) });
    if (error) expectError(outcome.errors, error);
    expectClean(outcome.reason ?? "");
  });

  test("a valid subscription after all of these is answered", async () => {
    const { body } = await running.graphql("{ requests(first: 1) { nodes { id } } }");
    const query = "subscription ($id: ID!) { requestUpdated(requestId: $id) { status } }";
    const variables = { id: body.data.requests.nodes[0].id };
    const states = webSocketClient(running.url).iterate({ query, variables });
    expect((await states.next()).value?.data).toEqual({ requestUpdated: { status: "COMPLETED" } });
  });
});

describe("server-sent events", () => {
  afterAll(() => running.expectWorking());
  test.each(streams)("$name: $error.code", async ({ name, error, ...params }) => {
    const headers = { accept: "text/event-stream" };
    const answer = await running.play(name, () => running.post("/graphql/stream", params, { headers }));
    expectError(messageOf(answer).errors, error);
  });
});
