/** HTTP that is not GraphQL over HTTP, and bytes that are not HTTP. */
import { once } from "node:events";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { expandMacros } from "./expand-macros.ts";
import { httpCaseSchema, sendCase } from "./http-case.ts";
import { expectClean, expectRefusal, readCases } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const HEADERS = { "content-type": "application/json" };
const WireSchema = z.strictObject({
  name: z.string(),
  /** What is written to the socket. */
  wire: z.string(),
  /** Of the first answer. */
  status: z.number().int(),
});
const { http, wire } = readCases(
  "transport.json",
  z.strictObject({ http: z.array(httpCaseSchema("/graphql", HEADERS)), wire: z.array(WireSchema) }),
);

let running: RunningSystem;
beforeAll(async () => {
  running = await startRunningSystem("transport.json", { MCP: "on" });
});
afterAll(() => running.close());

describe("HTTP", () => {
  afterAll(() => running.expectWell());
  test.each(http)("$name: $status $code", async (each) => {
    expectRefusal(await sendCase(running, each), each);
  });
});

describe("the wire", () => {
  afterAll(() => running.expectWell());
  test.each(wire)("$name: $status", async ({ name, wire: sent, status }) => {
    const answer = await running.play(name, async () => {
      const socket = connect(Number(new URL(running.url).port), "127.0.0.1");
      await once(socket, "connect");
      // Half closed: what is cut ends here.
      socket.end(expandMacros(sent));
      return readText(socket);
    });
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectClean(answer);
  });
});
