import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { BundledService } from "./bundles.ts";
import type { CountingTool } from "./counting-tool-server/counting-tools.ts";
import {
  type CountingToolServer,
  startCountingToolServer,
} from "./counting-tool-server/start-counting-tool-server.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { spawnService } from "./processes.ts";
import { testServers } from "./test-servers.ts";

/** Options of {@link startWholeSystem}. */
export interface WholeSystemOptions {
  /** Environment of all services. By default sweeps are frequent. */
  env?: Record<string, string>;
  /** Additional environment of the API. */
  api?: Record<string, string>;
  /** Additional tools of the counting server. */
  tools?: readonly CountingTool[];
  /** Additional tool servers, in the form of the servers file. */
  mcpServers?: Readonly<Record<string, object>>;
}

/** API, planner and executor as processes, with a counting tool server and a scripted model. */
export interface WholeSystem {
  /** URL with the name of the system's database. */
  mongodbUrl: string;
  /** The GraphQL endpoint. */
  apiUrl: string;
  tools: CountingToolServer;
  model: ModelServer;
  /**
   * Warnings, errors and unstructured lines of the services so far, without warnings about a client's plan.
   */
  loggedProblems(): readonly string[];
  /** The log lines of all services about a request, in order. */
  logged(requestId: string): readonly LogLine[];
  startPlanner(env?: Record<string, string>): Promise<ChildProcess>;
  /**
   * Kills the executor and starts another one, which takes over the plans of the first one at once (on Linux;
   * elsewhere after 5 s).
   * @param between - runs while there is no executor
   */
  restartExecutor(between?: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** A line of a service's log. */
const LogLineSchema = z.looseObject({
  service: z.string(),
  level: z.string(),
  msg: z.string(),
  requestId: z.string(),
});
export type LogLine = z.output<typeof LogLineSchema>;

/** Warnings about a request, not about the system. */
const OF_A_REQUEST: ReadonlySet<string> = new Set([
  "not planned",
  "step failed",
  "step in doubt",
  "plan failed",
  "plan ended in part",
]);

function toLogLine(line: string): LogLine | undefined {
  if (!line.startsWith("{")) return undefined;
  return LogLineSchema.safeParse(JSON.parse(line)).data;
}

/** Starts everything except the planner, and waits until it is ready. */
export async function startWholeSystem(options: WholeSystemOptions = {}): Promise<WholeSystem> {
  const servers = testServers();
  const folder = await mkdtemp(join(tmpdir(), "planwright-system-"));
  const tools = await startCountingToolServer({
    ledgerFile: join(folder, "ledger.jsonl"),
    tools: options.tools,
  });
  const model = await startModelServer();
  const serversFile = join(folder, "mcp-servers.json");
  await writeFile(
    serversFile,
    JSON.stringify({ mcpServers: { counting: { url: tools.url, trusted: true }, ...options.mcpServers } }),
  );
  const children: ChildProcess[] = [];
  const loggedProblems: string[] = [];
  const logLines: LogLine[] = [];

  /** Returns the line in which the service logs that it is ready. */
  async function start(
    service: BundledService,
    env: Record<string, string>,
  ): Promise<{ child: ChildProcess; readyLine: string }> {
    const child = spawnService(service, {
      MONGODB_URL: servers.mongodbUrl,
      REDIS_URL: servers.redisUrl,
      QUEUE_PREFIX: servers.redisPrefix,
      SWEEP_EVERY_MS: "100",
      ...options.env,
      ...env,
    });
    children.push(child);
    const readyLine = await new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        if (!stream) continue;
        createInterface(stream).on("line", (line) => {
          const logLine = toLogLine(line);
          if (logLine) logLines.push(logLine);
          const isUsual = logLine && OF_A_REQUEST.has(logLine.msg);
          if (!isUsual && !/"level":"(?:info|debug|trace)"/.test(line))
            loggedProblems.push(`${service}: ${line}`);
          if (line.includes(`${service} ready`)) resolve(line);
        });
      }
      child.once("exit", () => reject(new TypeError(`${service} ended:\n${loggedProblems.join("\n")}`)));
    });
    return { child, readyLine };
  }

  /** @param port - the health port, by which the new executor knows that its predecessor has ended */
  const startExecutor = (port: string) =>
    start("executor", { HEALTH_PORT: port, MCP_SERVERS_FILE: serversFile });

  const [{ readyLine }, first] = await Promise.all([
    start("api", { PORT: "0", ...options.api }),
    startExecutor("0"),
  ]);
  const executorPort = /"health":"[^"]+:(\d+)/.exec(first.readyLine)?.[1] ?? "0";
  let executor = first.child;
  return {
    mongodbUrl: servers.mongodbUrl,
    apiUrl: /"url":"([^"]+)"/.exec(readyLine)?.[1] ?? "",
    tools,
    model,
    loggedProblems: () => loggedProblems,
    logged: (requestId) => logLines.filter((line) => line.requestId === requestId),
    async startPlanner(env = {}) {
      const { child } = await start("planner", {
        HEALTH_PORT: "0",
        MODEL: "openai:test",
        OPENAI_BASE_URL: model.openAiUrl,
        ...env,
      });
      return child;
    },
    async restartExecutor(between) {
      const exited = once(executor, "exit");
      executor.kill("SIGKILL");
      await exited;
      await between?.();
      executor = (await startExecutor(executorPort)).child;
    },
    async close() {
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        }),
      );
      await Promise.all([tools.close(), model.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
