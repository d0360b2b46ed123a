/**
 * Planning compared with ReAct: the same tasks with the same tools and the same scripted model, by
 * LangGraph's prebuilt ReAct agent and by this system with its planner, executor, MongoDB and Redis. The
 * latencies of the model and tools are settings; everything else is measured.
 *
 * npm run bench -- model [--tool-ms 800] [--first-token-ms 500] [--prompt-token-ms 0.1] [--output-token-ms
 * 12.5] [--repeats 3] [--only "8 at once"] [--json]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CodedError, REQUEST_LIFECYCLE, statusesWhere } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore, type RequestDocument } from "@planwright/store";
import { startModelServer } from "@planwright/testing";
import { type ChangeStream, MongoClient } from "mongodb";
import {
  developerCommand,
  numberOption,
  print,
  printJson,
  say,
  wholeNumberOption,
  wordsOption,
} from "../command/developer-command.ts";
import { FROM_SOURCE, startServers, startService } from "../servers/servers.ts";
import { compare, type Measured, tableOf } from "./model-figures.ts";
import { TASKS, type Task } from "./model-tasks.ts";
import { type CallTokens, type LatencyModel, type ModelContender, scriptedModel } from "./scripted-model.ts";

/** A program that speaks MCP over stdio. */
interface ServerCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** The command of the tool server; each call takes `latencyMs`. */
const toolServerCommand = (latencyMs: number): ServerCommand => ({
  command: process.execPath,
  args: [...FROM_SOURCE, fileURLToPath(new URL("model-tool-server.ts", import.meta.url))],
  env: { PATH: process.env["PATH"] ?? "", LATENCY_MS: String(latencyMs) },
});

/** An agent that works on one query after another. */
interface ReactLoop {
  /** @returns the last message, which is the answer */
  run(query: string, options: { isParallel: boolean }): Promise<string>;
  close(): Promise<void>;
}

const PROMPT = "You are a helpful assistant. Use the tools to do what the user asks, then tell the result.";

/** LangGraph's prebuilt ReAct agent, built as its documentation shows, with the same tools over MCP. */
async function startReactLoop(toolServer: ServerCommand, baseURL: string): Promise<ReactLoop> {
  const client = new Client({ name: "bench", version: "0.1.0" });
  await client.connect(new StdioClientTransport(toolServer));
  const { tools: listed } = await client.listTools();
  const tools = listed.map(({ name, description = "", inputSchema }) =>
    tool(
      async (input: unknown) => {
        const given = input as Record<string, unknown>;
        const { content } = await client.callTool({ name, arguments: given });
        return content.map((part) => (part.type === "text" ? part.text : "")).join("");
      },
      { name, description, schema: withoutDialect(inputSchema) },
    ),
  );
  const agentOf = (isParallel: boolean) => {
    const llm = new ChatOpenAI({
      model: "bench",
      apiKey: "none",
      configuration: { baseURL },
      maxRetries: 0,
      useResponsesApi: false,
    });
    const bound = llm.bindTools(tools, { parallel_tool_calls: isParallel });
    return createReactAgent({ llm: bound, tools, prompt: PROMPT });
  };
  const agents = { one: agentOf(false), many: agentOf(true) };
  return {
    async run(query, { isParallel }) {
      const agent = isParallel ? agents.many : agents.one;
      const { messages } = await agent.invoke(
        { messages: [{ role: "user", content: query }] },
        { recursionLimit: 100 },
      );
      return messages.at(-1)?.text ?? "";
    },
    close: () => client.close(),
  };
}

/** The schema without `$schema`, which providers remove before a model sees it. */
function withoutDialect<Schema extends object>(schema: Schema): Omit<Schema, "$schema"> {
  const { $schema: _dialect, ...rest }: Schema & { $schema?: unknown } = schema;
  return rest;
}

/** This system, with its planner and executor as separate processes. */
interface PlanwrightRun {
  /** Runs from the sentence to the end of the request and its answer. The figures contain no polling. */
  run(query: string, options: { wantsAnswer: boolean }): Promise<RequestDocument>;
  close(): Promise<void>;
}

const TENANT = "bench";
/** Statuses in which a request no longer changes by itself. */
const SETTLED_STATUSES: ReadonlySet<string> = new Set(
  statusesWhere(REQUEST_LIFECYCLE, ({ hasEnded, needs }) => hasEnded || needs === "answer"),
);

/**
 * Connects as the API does: requests through the store, hints through the queue, ends from a change stream.
 */
async function openPlanwright(urls: { mongodbUrl: string; redisUrl: string }): Promise<PlanwrightRun> {
  const store = await createStore({ url: urls.mongodbUrl });
  const queues = createQueues({ redisUrl: urls.redisUrl });
  const client = await MongoClient.connect(urls.mongodbUrl);
  const waiting = new Map<string, (request: RequestDocument) => void>();
  const changes: ChangeStream<RequestDocument> = client
    .db()
    .collection<RequestDocument>("requests")
    .watch([], { fullDocument: "updateLookup" });
  changes.on("change", (change) => {
    const request = "fullDocument" in change ? change.fullDocument : undefined;
    if (!request || !isSettled(request)) return;
    waiting.get(request._id)?.(request);
    waiting.delete(request._id);
  });
  return {
    async run(query, { wantsAnswer }) {
      const request = await store.createRequest({ tenant: TENANT, query, autoExecute: true, wantsAnswer });
      const end = new Promise<RequestDocument>((resolve) => waiting.set(request._id, resolve));
      queues.offerPlanning(request);
      return end;
    },
    async close() {
      await changes.close();
      await client.close();
      await queues.close();
      await store.close();
    },
  };
}

/** The request has ended or needs an answer and, if it wants an answer, has it or an error in its place. */
function isSettled({ status, wantsAnswer, answer, answerError }: RequestDocument): boolean {
  const isAnswered = !wantsAnswer || (answer ?? answerError ?? null) !== null;
  return SETTLED_STATUSES.has(status) && (status !== "COMPLETED" || isAnswered);
}

/** Options of the command line; durations in milliseconds. */
interface Settings {
  firstTokenMs: number;
  promptTokenMs: number;
  outputTokenMs: number;
  toolMs: number;
  repeats: number;
  /** Names of tasks; all when empty. */
  only: string[];
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
function readSettings(args: readonly string[]): Settings {
  return developerCommand("bench -- model", "Compares plans with loops that ask the model for each call.")
    .option("--first-token-ms <ms>", "until a model begins its answer", numberOption(60_000, 0), 500)
    .option("--prompt-token-ms <ms>", "to read one token of a prompt", numberOption(1_000, 0), 0.1)
    .option("--output-token-ms <ms>", "to write one token", numberOption(1_000, 0), 12.5)
    .option("--tool-ms <ms>", "that a tool takes", wholeNumberOption(0, 60_000), 800)
    .option("--repeats <number>", "of each task", wholeNumberOption(1, 100), 3)
    .option("--only <task...>", "measure nothing else", wordsOption(TASKS.map(({ name }) => name)), [])
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}

/** A task did not end as expected, so its figures would mean nothing. */
class TaskNotDoneError extends CodedError<{ task: string; contender: ModelContender; ending: string }> {
  readonly code = "TASK_NOT_DONE";
  readonly retryable = false;
  constructor(facts: { task: string; contender: ModelContender; ending: string }) {
    super(`"${facts.task}" by ${facts.contender} did not end as expected: ${facts.ending}`, facts);
  }
}

const CONTENDERS: readonly ModelContender[] = ["react", "react-parallel", "planwright", "planwright-answer"];

const settings = readSettings(process.argv.slice(2));
const latency: LatencyModel = {
  firstTokenMs: settings.firstTokenMs,
  perPromptTokenMs: settings.promptTokenMs,
  perOutputTokenMs: settings.outputTokenMs,
};

const servers = await startServers();
const { redisUrl } = servers;
const mongodbUrl = servers.mongodbUrl("bench");
const serversFile = join(servers.folder, "servers.json");
const tools = toolServerCommand(settings.toolMs);
await writeFile(serversFile, JSON.stringify({ mcpServers: { office: { ...tools, trusted: true } } }));
const model = await startModelServer();
const urls = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl };
const executor = await startService("executor", "source", { ...urls, MCP_SERVERS_FILE: serversFile });
const planner = await startService("planner", "source", {
  ...urls,
  MODEL: "openai:bench",
  OPENAI_BASE_URL: model.openAiUrl,
});
const planwright = await openPlanwright({ mongodbUrl, redisUrl });
const react = await startReactLoop(tools, model.openAiUrl);

/** How a contender ended: "done", or what went wrong. */
async function perform(task: Task, contender: ModelContender): Promise<string> {
  if (contender === "react" || contender === "react-parallel") {
    const text = await react.run(task.query, { isParallel: contender === "react-parallel" });
    return text === task.answer ? "done" : text;
  }
  const wantsAnswer = contender === "planwright-answer";
  const { status, error, answer, answerError } = await planwright.run(task.query, { wantsAnswer });
  const isDone = status === "COMPLETED" && (!wantsAnswer || answer === task.answer);
  return isDone ? "done" : `${status} ${JSON.stringify(error ?? answerError ?? answer ?? null)}`;
}

async function measure(task: Task, contender: ModelContender): Promise<Measured> {
  const calls: CallTokens[] = [];
  model.script(scriptedModel({ task, contender, latency, onCall: (tokens) => calls.push(tokens) }));
  const startedAt = performance.now();
  const ending = await perform(task, contender);
  const wallMs = performance.now() - startedAt;
  if (ending !== "done") throw new TaskNotDoneError({ task: task.name, contender, ending });
  return { task, contender, wallMs, calls };
}

try {
  const tasks = TASKS.filter(({ name }) => settings.only.length === 0 || settings.only.includes(name));
  const [first] = tasks;
  // Each contender runs once first, because libraries load and connections open at its first call.
  if (first) for (const contender of CONTENDERS) await measure(first, contender);
  const measured: Measured[] = [];
  for (const task of tasks) {
    for (const contender of CONTENDERS) {
      for (let repeat = 0; repeat < settings.repeats; repeat += 1)
        measured.push(await measure(task, contender));
    }
    say(`${task.name}: done`);
  }
  const report = compare(measured);
  if (settings.json) printJson({ settings, ...report });
  else for (const line of tableOf(report)) print(line);
} finally {
  await Promise.all([react.close(), planwright.close(), planner.stop(), executor.stop()]);
  await model.close();
  await servers.stop();
}
