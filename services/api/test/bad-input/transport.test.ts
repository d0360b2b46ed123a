/** HTTP that is not GraphQL over HTTP, and bytes that are not HTTP. */
import { once } from "node:events";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type RunningApi, startTestApi } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import {
  expectClean,
  expectRefusal,
  expectWell,
  readCases,
  slowestAnswer,
  timed,
  traces,
} from "./refusals.ts";

const CaseSchema = z.strictObject({
  name: z.string(),
  path: z.string().default("/graphql"),
  method: z.string().default("POST"),
  headers: z.record(z.string(), z.string()).default({ "content-type": "application/json" }),
  /** As it is sent. */
  body: z.string().optional(),
  /** The same in base64, for what is no text. */
  bytes: z.string().optional(),
  status: z.number().int(),
  code: z.string(),
  says: z.string().optional(),
});
const WireSchema = z.strictObject({
  name: z.string(),
  /** What is written to the socket. */
  wire: z.string(),
  /** Of the first answer. */
  status: z.number().int(),
});
const { http, wire } = readCases(
  "transport.json",
  z.strictObject({ http: z.array(CaseSchema), wire: z.array(WireSchema) }),
);

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ mcp: { hosts: [] } });
});
afterAll(() => running.close());

describe("HTTP", () => {
  afterAll(() => expectWell(running));
  test.each(http)("$name: $status $code", async (each) => {
    const { name, path, method, headers, body, bytes } = each;
    const before = await traces(running);
    const sent = bytes === undefined ? body : Buffer.from(bytes, "base64");
    const init = sent === undefined ? { method, headers } : { method, headers, body: written(sent) };
    expectRefusal(await timed(name, () => running.send(expanded(path), init)), each);
    expect(await traces(running)).toEqual(before);
  });
});

describe("the wire", () => {
  afterAll(() => expectWell(running));
  test.each(wire)("$name: $status", async ({ name, wire: sent, status }) => {
    const answer = await timed(name, async () => {
      const socket = connect(running.api.ports[0] ?? 0, "127.0.0.1");
      await once(socket, "connect");
      // Half closed: what is cut ends here.
      socket.end(expanded(sent));
      return readText(socket);
    });
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectClean(answer);
  });
});

test("the slowest answer is told", async ({ annotate }) => {
  await annotate(slowestAnswer());
});

function written(sent: string | Buffer): string | Uint8Array<ArrayBuffer> {
  return typeof sent === "string" ? expanded(sent) : new Uint8Array(sent);
}

function expanded(text: string): string {
  return expandMacros(text);
}
