/** HTTP that is not GraphQL over HTTP, and bytes that are not HTTP. */
import { once } from "node:events";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, test } from "vitest";
import { z } from "zod";
import { expandMacros } from "./expand-macros.ts";
import { httpCaseSchema, sendCase } from "./http-case.ts";
import { expectClean, expectRefusal, firstOfEach, RefusalSchema, readCases } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const HEADERS = { "content-type": "application/json" };
const WireSchema = z.strictObject({
  ...RefusalSchema,
  code: RefusalSchema.code.default("BAD_REQUEST"),
  /** Bytes written to the socket; status and code are those of the first answer. */
  wire: z.string(),
});
const { http, wire } = readCases(
  "transport.json",
  z.strictObject({ http: z.array(httpCaseSchema("/graphql", HEADERS)), wire: z.array(WireSchema) }),
);

let running: RunningSystem;
beforeAll(async () => {
  running = await startRunningSystem("transport.json", { api: { MCP: "on" } });
});
afterAll(() => running.close());

describe("HTTP", () => {
  afterAll(() => running.expectWorking());
  for (const { cases: some, options } of firstOfEach(http))
    test.each(some)("$name: $status $code", options, async (each) => {
      expectRefusal(await sendCase(running, each), each);
    });
});

describe("the wire", () => {
  afterAll(() => running.expectWorking());
  test.each(wire)("$name: $status $code", async ({ name, wire: sent, ...expected }) => {
    const answer = await running.play(name, async () => {
      const socket = connect(Number(new URL(running.url).port), "127.0.0.1");
      await once(socket, "connect");
      // Half closed: an incomplete request ends here.
      socket.end(expandMacros(sent));
      return readText(socket);
    });
    const [, status, text = ""] = /^HTTP\/1\.1 (\d+) .*?\r\n\r\n(.*)$/s.exec(answer) ?? [];
    expectRefusal({ status: Number(status), text, body: JSON.parse(text) }, expected);
    expectClean(answer);
  });
});
