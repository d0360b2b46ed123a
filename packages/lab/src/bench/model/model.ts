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
import { CodedError } from "@planwright/plan";
import { startModelServer } from "@planwright/testing";
import { print, printJson, say } from "../../report/output.ts";
import { startServers } from "../../servers/start-servers.ts";
import { startService } from "../../servers/start-service.ts";
import type { Measured } from "./figures.ts";
import type { CallTokens, LatencyModel } from "./latency-model.ts";
import { openPlanwright } from "./planwright-run.ts";
import { startReactLoop } from "./react-loop.ts";
import { compare, tableOf } from "./report.ts";
import { type Contender, scriptedModel } from "./scripted-model.ts";
import { readSettings } from "./settings.ts";
import { TASKS, type Task } from "./tasks.ts";
import { toolServerCommand } from "./tool-server-command.ts";

/** A task did not end as expected, so its figures would mean nothing. */
class TaskNotDoneError extends CodedError<{ task: string; contender: Contender; ending: string }> {
  readonly code = "TASK_NOT_DONE";
  readonly retryable = false;
  constructor(facts: { task: string; contender: Contender; ending: string }) {
    super(`"${facts.task}" by ${facts.contender} did not end as expected: ${facts.ending}`, facts);
  }
}

const CONTENDERS: readonly Contender[] = ["react", "react-parallel", "planwright", "planwright-answer"];

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
async function perform(task: Task, contender: Contender): Promise<string> {
  if (contender === "react" || contender === "react-parallel") {
    const text = await react.run(task.query, { isParallel: contender === "react-parallel" });
    return text === task.answer ? "done" : text;
  }
  const wantsAnswer = contender === "planwright-answer";
  const { status, error, answer, answerError } = await planwright.run(task.query, { wantsAnswer });
  const isDone = status === "COMPLETED" && (!wantsAnswer || answer === task.answer);
  return isDone ? "done" : `${status} ${JSON.stringify(error ?? answerError ?? answer ?? null)}`;
}

async function measure(task: Task, contender: Contender): Promise<Measured> {
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
