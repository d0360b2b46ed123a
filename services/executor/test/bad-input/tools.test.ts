/** Answers of tools, and servers of tools, that are not what they should be, through a running executor. */
import { readFileSync } from "node:fs";
import { JsonObjectSchema, parsePlan, pinTools, type ToolPin } from "@planwright/plan";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openWorkbench, type Workbench } from "../executor-process.ts";
import { type BadAnswer, BadAnswerSchema, startBadMcpServer } from "./bad-mcp-server.ts";

const ExpectedSchema = {
  name: z.string(),
  /** Of the step; without one it completes. */
  code: z.string().optional(),
  says: z.string().optional(),
  /** What the step keeps when it completes. */
  output: z.json().optional(),
};
const FileSchema = z.strictObject({
  /** How a tool answers a call. */
  outputs: z.array(z.strictObject({ ...ExpectedSchema, answer: BadAnswerSchema })),
  /** How a server answers when it is asked for its tools; its tool "listed" answers a call with a text. */
  servers: z.array(
    z.strictObject({
      ...ExpectedSchema,
      /** Of its tools. Default: the one of them, well. */
      answer: BadAnswerSchema.optional(),
      /** Of the greeting. Default: well. */
      greeting: BadAnswerSchema.optional(),
      /** Of the first calls of its tool, one after the other. */
      calls: z.array(BadAnswerSchema).optional(),
      /** What the tool said of itself when the plan was made, beside its name. */
      pinned: JsonObjectSchema.optional(),
    }),
  ),
});
const { outputs, servers } = FileSchema.parse(
  JSON.parse(readFileSync(new URL("tools.json", import.meta.url), "utf8")),
);
const WELL = '{"content":[{"type":"text","text":"well"}]}';
const INSIDES = /node_modules|\.[cm]?[jt]s:\d|\bat async|Mongo|BSON|\bundefined\b|\[object /;

/** Writes `[[repeat 3 ab]]` out. */
const expanded = (text: string) =>
  text.replaceAll(/\[\[repeat (\d+) (.*?)\]\]/g, (_, count: string, each: string) => each.repeat(+count));

const listed = (names: string[]) =>
  JSON.stringify({
    tools: names.map((name) => ({
      name,
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true, idempotentHint: true },
    })),
  });

/** Answers to calls that are left, by server. */
const callsLeft = servers.map(({ calls = [] }) => [...calls]);

/** What a server of `servers` answers; undefined for a greeting as it should be. */
function answerOfServer(index: number, method: string): BadAnswer | undefined {
  if (method === "initialize") return servers[index]?.greeting;
  if (method === "tools/list")
    return servers[index]?.answer ?? BadAnswerSchema.parse({ result: listed(["listed"]) });
  return callsLeft[index]?.shift() ?? BadAnswerSchema.parse({ result: WELL });
}

function answerOfOutputs(method: string, tool: string | undefined): BadAnswer | undefined {
  if (method === "initialize") return undefined;
  if (method === "tools/list")
    return BadAnswerSchema.parse({ result: listed(outputs.map((_, index) => `out${index}`)) });
  return outputs[Number(tool?.slice("out".length))]?.answer;
}

let bad: Awaited<ReturnType<typeof startBadMcpServer>>;
let bench: Workbench;
beforeAll(async () => {
  bad = await startBadMcpServer((path, { method, tool }) => {
    const place = /^\/server(\d+)$/.exec(path);
    const answer = place ? answerOfServer(Number(place[1]), method) : answerOfOutputs(method, tool);
    if (!answer) return undefined;
    const { result, body } = answer;
    return {
      ...answer,
      result: result === undefined ? undefined : expanded(result),
      body: body === undefined ? undefined : expanded(body),
    };
  });
  const entries = servers.map((_, index) => [
    `server${index}`,
    { url: `${bad.url}/server${index}`, trusted: true, timeoutMs: 3_000 },
  ]);
  bench = await openWorkbench({
    ...Object.fromEntries(entries),
    outputs: { url: `${bad.url}/outputs`, trusted: true },
  });
  // Those that never answer hold the start up that long.
  await bench.startExecutor({ CONNECT_TIMEOUT_MS: "2000" });
});
afterAll(async () => {
  // The next good plan is executed, and nothing else has had an effect.
  const { _id } = await bench.submit([{ id: "good", tool: "keyed_effect", arguments: { value: 1 } }]);
  expect((await bench.end(_id)).plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toHaveLength(1);
  await bench.close();
  await bad.close();
});

/** What becomes of a call, and how often it may be made. */
interface Calling {
  attempts?: number;
  toolPins?: ToolPin[];
}

/** Calls one tool, once unless said otherwise, and looks at what is recorded. */
async function expectRecorded(
  tool: string,
  expected: z.infer<z.ZodObject<typeof ExpectedSchema>>,
  { attempts = 1, toolPins }: Calling = {},
) {
  const retry = { maxAttempts: attempts, initialMs: 0 };
  const { _id } = await bench.submit([{ id: "bad", tool, arguments: {}, timeoutMs: 3_000, retry }], toolPins);
  const { plan, steps } = await bench.end(_id);
  const step = steps.get("bad");
  const code = step?.error?.code;
  expect({ plan: plan.status, step: step?.status, code }).toEqual(
    expected.code === undefined
      ? { plan: "COMPLETED", step: "COMPLETED", code: undefined }
      : { plan: "FAILED", step: "FAILED", code: expected.code },
  );
  if (expected.output !== undefined) expect(step?.output).toEqual(expected.output);
  if (expected.code === undefined) return;
  expect(step?.error?.message).toMatch(new RegExp(expected.says ?? "\\w"));
  expect(step?.error?.message).not.toMatch(INSIDES);
}

describe("outputs", () => {
  test.each(outputs.map((each, index) => ({ ...each, index })))("$name", ({ index, ...each }) =>
    expectRecorded(`outputs/out${index}`, each),
  );
});

describe("servers", () => {
  test.each(servers.map((each, index) => ({ ...each, index })))("$name", ({ index, ...each }) => {
    const tool = `server${index}/listed`;
    return expectRecorded(tool, each, {
      attempts: 1 + (each.calls?.length ?? 0),
      ...(each.pinned ? { toolPins: pinned(tool, `server${index}`, each.pinned) } : {}),
    });
  });
});

/** As a plan pinned the tool that was then what it said. */
function pinned(tool: string, server: string, said: object): ToolPin[] {
  const parsed = parsePlan([{ id: "bad", tool, arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return pinTools(parsed.plan, [{ name: "listed", server, trusted: true, ...said }]);
}
