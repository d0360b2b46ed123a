import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CodedError, canonicalDigest, type JsonObject, JsonObjectSchema } from "@planwright/plan";
import { z } from "zod";
import type { FakeTool } from "./plan-test.ts";

/** An MCP server: its address, or how its process is started. */
export type RecordedServer = { url: string } | { command: string; args?: string[]; cwd?: string };

/** Tools that answer what was recorded. */
export interface RecordedTools {
  tools: FakeTool[];
  /** True when the answers come from the file, false while they are being recorded. */
  isReplay: boolean;
  /** Ends the connection to the server; needed after a recording. */
  close(): Promise<void>;
}

const AnswerSchema = z.union([
  z.object({ result: JsonObjectSchema }),
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
]);
const RecordingSchema = z.object({
  tools: z.array(z.looseObject({ name: z.string() })),
  calls: z.array(z.object({ tool: z.string(), arguments: JsonObjectSchema, answer: AnswerSchema })),
});
type Recording = z.infer<typeof RecordingSchema>;
type RecordedAnswer = z.infer<typeof AnswerSchema>;

/**
 * The tools of a server, with their real contracts and answers, recorded once. Without the file, or with
 * `PLANWRIGHT_RECORD=1`, the calls go to the server, and are written to the file; otherwise the file answers, and
 * no server is needed. The same call made several times gets its answers in their order, then the last again.
 *
 * @param file - JSON; commit it. It contains what the tools answered: record with test data
 */
export async function recordedTools(file: string, server: RecordedServer): Promise<RecordedTools> {
  const isAsked = !["", "0"].includes(process.env["PLANWRIGHT_RECORD"] ?? "");
  return existsSync(file) && !isAsked ? replay(file) : record(file, server);
}

function replay(file: string): RecordedTools {
  const { tools, calls } = RecordingSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  const answers = new Map<string, RecordedAnswer[]>();
  for (const call of calls) {
    const digest = digestOf(call.tool, call.arguments);
    answers.set(digest, [...(answers.get(digest) ?? []), call.answer]);
  }
  const run = (tool: string, args: JsonObject): unknown => {
    const [next, ...later] = answers.get(digestOf(tool, args)) ?? [];
    if (!next) throw new CallNotRecordedError(tool, args, file);
    if (later.length > 0) answers.set(digestOf(tool, args), later);
    return valueOf(tool, next);
  };
  return { tools: tools.map((tool) => fakeOf(tool, run)), isReplay: true, close: async () => undefined };
}

async function record(file: string, server: RecordedServer): Promise<RecordedTools> {
  const client = new Client({ name: "planwright-test-kit", version: "0.1.0" });
  await client.connect(
    "url" in server
      ? new StreamableHTTPClientTransport(new URL(server.url))
      : new StdioClientTransport({ ...server, stderr: "inherit" }),
  );
  const { tools } = await client.listTools();
  const recording: Recording = { tools, calls: [] };
  const run = async (tool: string, args: JsonObject): Promise<unknown> => {
    const answer = await answerOf(client, tool, args);
    recording.calls.push({ tool, arguments: args, answer });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`);
    return valueOf(tool, answer);
  };
  return { tools: tools.map((tool) => fakeOf(tool, run)), isReplay: false, close: () => client.close() };
}

async function answerOf(client: Client, name: string, args: JsonObject): Promise<RecordedAnswer> {
  try {
    const result = await client.callTool({ name, arguments: args });
    return { result: JsonObjectSchema.parse(JSON.parse(JSON.stringify(result))) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

function fakeOf(tool: { name: string }, run: (tool: string, args: JsonObject) => unknown): FakeTool {
  return { ...tool, run: (args) => run(tool.name, args) };
}

/** The answer as the system reads it: only an internal error leaves open what happened. */
function valueOf(tool: string, answer: RecordedAnswer): unknown {
  if ("result" in answer) return answer.result;
  const { code, message } = answer.error;
  const isOpen = code === ProtocolErrorCode.InternalError;
  throw Object.assign(new TypeError(`${tool}: ${message}`), {
    code: "TOOL_FAILED",
    effect: isOpen ? "unknown" : "none",
    retryable: isOpen,
  });
}

function digestOf(tool: string, args: JsonObject): string {
  return canonicalDigest([tool, args]);
}

/** A call that the recording does not have: the plan or its arguments have changed. Nothing was called. */
class CallNotRecordedError extends CodedError<{ tool: string; file: string }> {
  readonly code = "CALL_NOT_RECORDED";
  readonly retryable = false;
  readonly effect = "none";
  constructor(tool: string, args: JsonObject, file: string) {
    super(
      `${file} has no call of ${tool} with ${JSON.stringify(args)}: delete it, or set PLANWRIGHT_RECORD=1, to record again`,
      { tool, file },
    );
  }
}
