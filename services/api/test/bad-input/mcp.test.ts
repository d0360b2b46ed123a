/** Calls of tools that must be refused, and messages that are not MCP, as agents and others send them to /mcp. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, type RunningApi, startTestApi } from "../running-api.ts";
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

const CallSchema = z.strictObject({
  name: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.json()).optional(),
  code: z.string(),
  /** The message must fit. */
  says: z.string().optional(),
});
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MessageSchema = z.strictObject({
  name: z.string(),
  method: z.string().default("POST"),
  headers: z.record(z.string(), z.string()).default(HEADERS),
  message: z.json().optional(),
  /** As it is sent. */
  text: z.string().optional(),
  status: z.number().int(),
  code: z.string(),
  says: z.string().optional(),
});
const { calls, messages } = readCases(
  "mcp.json",
  z.strictObject({ calls: z.array(CallSchema), messages: z.array(MessageSchema) }),
);

let running: RunningApi;
beforeAll(async () => {
  running = await startTestApi({ mcp: { hosts: [] } });
});
afterAll(() => running.close());

async function post(message: object): Promise<Answer> {
  const body = expandMacros(JSON.stringify(message));
  return running.send("/mcp", { method: "POST", headers: HEADERS, body });
}

/** The message of an answer, which may be a stream of one event. */
function messageOf({ text }: Answer): ReturnType<typeof JSON.parse> {
  const [, data] = /^data: (.*)$/m.exec(text) ?? [];
  return JSON.parse(data ?? text);
}

function expectSays(
  { message, remedy, code }: { message: string; remedy: unknown; code: unknown },
  expected: { code: string; says?: string | undefined },
): void {
  expect(code).toBe(expected.code);
  expectSpeaks(message, remedy);
  expect(message.length).toBeLessThan(1_000);
  if (expected.says) expect(message).toMatch(new RegExp(expected.says));
}

async function expectToolsListed(): Promise<void> {
  const answer = await post({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  expect(messageOf(answer).result.tools).toHaveLength(4);
  await expectWell(running);
}

describe("calls of tools", () => {
  afterAll(expectToolsListed);
  test.each(calls)("$name: $code", async ({ name, tool, arguments: given, ...expected }) => {
    const before = await traces(running);
    const params = { name: tool, ...(given ? { arguments: given } : {}) };
    const answer = await timed(name, () => post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    expectClean(answer.text);
    const { result } = messageOf(answer);
    expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
    expectSays(JSON.parse(result.content[0].text), expected);
    expect(await traces(running)).toEqual(before);
  });
});

describe("messages", () => {
  afterAll(expectToolsListed);
  test.each(messages)(
    "$name: $status $code",
    async ({ name, method, headers, message, text, ...expected }) => {
      const before = await traces(running);
      const sent = message === undefined ? text : expandMacros(JSON.stringify(message));
      const init = { method, headers, ...(sent === undefined ? {} : { body: sent }) };
      const answer = await timed(name, () => running.send("/mcp", init));
      expectClean(answer.text);
      expect(answer.status).toBe(expected.status);
      const { jsonrpc, error } = messageOf(answer);
      expect(jsonrpc).toBe("2.0");
      expectSays({ message: error.message, ...error.data }, expected);
      expect(await traces(running)).toEqual(before);
    },
  );
});

test("the slowest answer is told", async ({ annotate }) => {
  await annotate(slowestAnswer());
});
