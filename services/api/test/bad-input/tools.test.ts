/** Invalid answers of tools and of tool servers: the errors that clients get. */
import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { JsonObjectSchema, parsePlan, pinTools } from "@planwright/plan";
import { eventually } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type BadAnswer, BadAnswerSchema, startBadMcpServer } from "./bad-mcp-server.ts";
import { expandMacros } from "./expand-macros.ts";
import { expectClean, expectReadable, firstOfEach, readCases } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const ExpectedSchema = {
  name: z.string(),
  /** Of the step; without it the step completes. */
  code: z.string().optional(),
  says: z.string().optional(),
  /** The stored output of a completed step. */
  output: z.json().optional(),
  /** Text in a warning of the step. Default: no warning. */
  warns: z.string().optional(),
};
const { outputs, servers } = readCases(
  "tools.json",
  z.strictObject({
    /** How a tool answers a call. */
    outputs: z.array(z.strictObject({ ...ExpectedSchema, answer: BadAnswerSchema })),
    /** How a server answers a listing; its tool "listed" answers a call with a text. */
    servers: z.array(
      z.strictObject({
        ...ExpectedSchema,
        /** Error code of a plan with its tool, which is refused. */
        refused: z.string().optional(),
        /** Reaction to a listing. Default: a valid list with one tool. */
        answer: BadAnswerSchema.optional(),
        /** Reaction to the greeting. Default: a valid answer. */
        greeting: BadAnswerSchema.optional(),
        /** Reactions to the first calls of its tool, in order. */
        calls: z.array(BadAnswerSchema).optional(),
        /** What the tool's descriptor contained when the plan was made, in addition to its name. */
        pinned: JsonObjectSchema.optional(),
      }),
    ),
  }),
);
const WELL = '{"content":[{"type":"text","text":"well"}]}';
const SUBMIT = "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId } }";
const EXECUTE = "mutation ($id: ID!) { executePlan(planId: $id) { id } }";
const READ =
  "query ($id: ID!) { request(requestId: $id) { plan { error { code message remedy } steps { status output warnings error { code message remedy } } } } }";

const listed = (names: string[]) =>
  JSON.stringify({
    tools: names.map((name) => ({
      name,
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true, idempotentHint: true },
    })),
  });

/** Remaining answers to calls, by server. */
const remainingCalls = servers.map(({ calls = [] }) => [...calls]);

/** The answer of a server of `servers`; undefined: the correct greeting. */
function answerOfServer(index: number, method: string): BadAnswer | undefined {
  if (method === "initialize") return servers[index]?.greeting;
  if (method === "tools/list")
    return servers[index]?.answer ?? BadAnswerSchema.parse({ result: listed(["listed"]) });
  return remainingCalls[index]?.shift() ?? BadAnswerSchema.parse({ result: WELL });
}

function answerOfOutputs(method: string, tool: string | undefined): BadAnswer | undefined {
  if (method === "initialize") return undefined;
  if (method === "tools/list")
    return BadAnswerSchema.parse({ result: listed(outputs.map((_, index) => `out${index}`)) });
  return outputs[Number(tool?.slice("out".length))]?.answer;
}

let bad: Awaited<ReturnType<typeof startBadMcpServer>>;
let running: RunningSystem;
let mongo: MongoClient;
beforeAll(async () => {
  bad = await startBadMcpServer((path, { method, tool }) => {
    const serverMatch = /^\/server(\d+)$/.exec(path);
    const answer = serverMatch
      ? answerOfServer(Number(serverMatch[1]), method)
      : answerOfOutputs(method, tool);
    if (!answer) return undefined;
    const { result, body } = answer;
    return {
      ...answer,
      result: result === undefined ? undefined : expandMacros(result),
      body: body === undefined ? undefined : expandMacros(body),
    };
  });
  const entries = servers.map((_, index) => [
    `server${index}`,
    { url: `${bad.url}/server${index}`, trusted: true, timeoutMs: 3_000 },
  ]);
  running = await startRunningSystem("tools.json", {
    mcpServers: { ...Object.fromEntries(entries), outputs: { url: `${bad.url}/outputs`, trusted: true } },
    // Servers that never answer delay the start by this time.
    env: { CONNECT_TIMEOUT_MS: "5000" },
    // A log line reports each server that cannot be reached or lists invalid tools.
    mayLog: (line) => line.includes('"service":"executor"') && line.includes('"level":"warn"'),
  });
  // On a busy machine the executor is ready before it has listed all servers.
  const listing = servers.flatMap(({ refused }, index) => (refused ? [] : [`server${index}`]));
  await eventually(async () => {
    const { body } = await running.graphql("{ getAvailableTools { server } }");
    const known = body.data.getAvailableTools.map(({ server }: { server: string }) => server);
    return ["outputs", ...listing].every((name) => known.includes(name));
  });
  mongo = await MongoClient.connect(running.mongodbUrl);
});
afterAll(async () => {
  await running.expectWorking();
  await mongo.close();
  await running.close();
  await bad.close();
});

/** Submits a plan of one call, with this maximum number of attempts. */
function submit(tool: string, attempts: number) {
  const retry = { maxAttempts: attempts, initialMs: 0 };
  const plan = { steps: [{ id: "bad", tool, arguments: {}, timeoutMs: 3_000, retry }] };
  return running.graphql(SUBMIT, { plan });
}

/** Calls one tool, and checks the error that clients get. */
async function expectReported(
  tool: string,
  { name, code, says, output, warns }: z.infer<z.ZodObject<typeof ExpectedSchema>>,
  attempts: number,
  before: (planId: string) => Promise<void> = async () => undefined,
) {
  let requestId = "";
  const run = async () => {
    const { body } = await submit(tool, attempts);
    expect(body.errors).toBeUndefined();
    requestId = body.data.submitPlan.requestId;
    await before(body.data.submitPlan.planId);
    return running.graphql(EXECUTE, { id: body.data.submitPlan.planId });
  };
  const status = code === undefined ? "COMPLETED" : "FAILED";
  await running.play(name, run, "an ended request", () => running.follow(requestId, status));
  const { body, text } = await running.graphql(READ, { id: requestId });
  const { plan } = body.data.request;
  const [step] = plan.steps;
  expect({ step: step.status, code: step.error?.code }).toEqual({ step: status, code });
  expect(step.warnings).toEqual(warns === undefined ? [] : [expect.stringContaining(warns)]);
  if (output !== undefined) expect(step.output).toEqual(output);
  if (code === undefined) return;
  expectClean(text);
  for (const error of [step.error, plan.error]) expectReadable(error.message, error.remedy);
  expect(step.error.message).toMatch(new RegExp(says ?? "\\w"));
}

describe("outputs", () => {
  const all = outputs.map((each, index) => ({ ...each, index }));
  const kindOf = ({ warns, output }: (typeof all)[number]) => [warns, typeof output];
  for (const { cases, options } of firstOfEach(all, kindOf))
    test.each(cases)("$name", options, ({ index, ...each }) =>
      expectReported(`outputs/out${index}`, each, 1),
    );
});

describe("servers", () => {
  const accepted = servers.map((each, index) => ({ ...each, index })).filter(({ refused }) => !refused);
  const kindOf = (each: (typeof accepted)[number]) =>
    ["answer", "greeting", "calls", "pinned"].filter((part) => part in each);
  for (const { cases, options } of firstOfEach(accepted, kindOf))
    test.each(cases)("$name", options, ({ index, calls = [], pinned, ...each }) => {
      const tool = `server${index}/listed`;
      return expectReported(tool, each, 1 + calls.length, (planId) => pin(planId, tool, pinned));
    });
});

describe("servers whose tools are not known", () => {
  const refused = servers.map((each, index) => ({ ...each, index })).filter((each) => each.refused);
  test.each(refused)("$name: $refused", async ({ index, name, refused: code }) => {
    const { body, text } = await running.play(
      name,
      () => submit(`server${index}/listed`, 1),
      "an ended request",
    );
    expectClean(text);
    const [{ message, extensions }] = body.errors;
    expect(extensions.diagnostics).toEqual([expect.objectContaining({ code })]);
    expectReadable(message, extensions.remedy);
  });
});

/** Changes the plan as if it was made when the tool had this descriptor. */
async function pin(planId: string, tool: string, pinned: JsonObject | undefined): Promise<void> {
  if (!pinned) return;
  const parsed = parsePlan([{ id: "bad", tool, arguments: {} }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  const [server = ""] = tool.split("/");
  const descriptor = { name: "listed", server, trusted: true, ...pinned } as unknown as ToolDescriptor;
  await mongo
    .db()
    .collection<{ _id: string }>("plans")
    .updateOne({ _id: planId }, { $set: { toolPins: pinTools(parsed.plan, [descriptor]) } });
}
