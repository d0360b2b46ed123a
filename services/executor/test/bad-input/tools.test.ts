/** Answers of tools, and servers of tools, that are not what they should be, through a running executor. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openWorkbench, type Workbench } from "../executor-process.ts";
import { BadAnswerSchema, startBadMcpServer } from "./bad-mcp-server.ts";

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
  servers: z.array(z.strictObject({ ...ExpectedSchema, answer: BadAnswerSchema })),
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

let bad: Awaited<ReturnType<typeof startBadMcpServer>>;
let bench: Workbench;
beforeAll(async () => {
  bad = await startBadMcpServer((path, tool) => {
    const place = /^\/server(\d+)$/.exec(path);
    const answer = place
      ? tool === undefined
        ? servers[Number(place[1])]?.answer
        : BadAnswerSchema.parse({ result: WELL })
      : tool === undefined
        ? BadAnswerSchema.parse({ result: listed(outputs.map((_, index) => `out${index}`)) })
        : outputs[Number(tool.slice("out".length))]?.answer;
    if (!answer) throw new TypeError(`nothing is at ${path}`);
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
  await bench.startExecutor();
});
afterAll(async () => {
  // The next good plan is executed, and nothing else has had an effect.
  const { _id } = await bench.submit([{ id: "good", tool: "keyed_effect", arguments: { value: 1 } }]);
  expect((await bench.end(_id)).plan.status).toBe("COMPLETED");
  expect(await bench.tools.ledger()).toHaveLength(1);
  await bench.close();
  await bad.close();
});

/** Calls one tool once, and looks at what is recorded. */
async function expectRecorded(tool: string, expected: z.infer<typeof FileSchema>["outputs"][number]) {
  const { _id } = await bench.submit([
    { id: "bad", tool, arguments: {}, timeoutMs: 3_000, retry: { maxAttempts: 1 } },
  ]);
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
  test.each(servers.map((each, index) => ({ ...each, index })))("$name", ({ index, ...each }) =>
    expectRecorded(`server${index}/listed`, each),
  );
});
