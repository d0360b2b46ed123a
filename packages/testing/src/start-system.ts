import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { CountingTool } from "./counting-tool-server/counting-tools.ts";
import {
  type CountingToolServer,
  startCountingToolServer,
} from "./counting-tool-server/start-counting-tool-server.ts";
import { returnDatabase } from "./databases.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { bundledServices, spawnService } from "./processes.ts";
import { testServers } from "./test-servers.ts";

/** Options of {@link startSystem} and {@link startWholeSystem}. */
export interface SystemOptions {
  /** Environment of all roles. Without settings sweeps are as rare as those of a service; a hint starts new work. */
  env?: Record<string, string>;
  /** Additional environment of the API. */
  api?: Record<string, string>;
  /** Additional tools of the counting server. */
  tools?: readonly CountingTool[];
  /** Further settings of the counting server in the servers file. */
  counting?: object;
  /** Additional tool servers, in the form of the servers file. */
  mcpServers?: Readonly<Record<string, object>>;
  /** Fills the database before the roles start. Default: it is new. */
  fillDatabase?: (mongodbUrl: string) => Promise<void>;
}

/** API, planner and executor, with a counting tool server and a scripted model. */
interface AnySystem<Planner> {
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
  startPlanner(env?: Record<string, string>): Promise<Planner>;
  close(): Promise<void>;
}

/** The system in the process of the test. */
export type System = AnySystem<RunningRoles>;

/** Roles in the process of the test. */
export interface RunningRoles {
  /** Ends them in order, as SIGTERM ends a process. */
  end(): Promise<void>;
}

/** The system as three processes. */
export interface WholeSystem extends AnySystem<ChildProcess> {
  /**
   * Kills the executor and starts another one, which takes over the plans of the first one at once (on Linux;
   * elsewhere after 5 s).
   * @param between - runs while there is no executor
   */
  restartExecutor(between?: () => Promise<void>): Promise<void>;
}

/** A line of a service's log. */
const LogLineSchema = z.looseObject({
  service: z.string(),
  level: z.string(),
  msg: z.string(),
  requestId: z.string(),
});
export type LogLine = z.output<typeof LogLineSchema>;

type RoleName = "api" | "planner" | "executor";

/**
 * Settings of roles in the process of a test: no test kills them, and a busy machine suspends them for seconds now
 * and then; and they end at once.
 */
const IN_PROCESS = { DEAD_AFTER_MS: "60000", SHUTDOWN_TIMEOUT_MS: "100" };

/**
 * Starts the API and an executor in the process of the test, which takes less processor time than three
 * processes; for tests whose subject is not the process. The planner, which many tests do not need, is started
 * separately.
 */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const parts = await openParts(options);
  const running: RunningRoles[] = [];
  const start = async (roles: RoleName[], env: Record<string, string>): Promise<RunningRoles> => {
    const started = await startRoles(roles, { ...IN_PROCESS, ...parts.env, ...env }, (role, line) =>
      parts.onLine(role, line),
    );
    running.push(started);
    return started;
  };
  await start(["api", "executor"], { PORT: "0", HEALTH_PORT: "0", ...options.api });
  return {
    ...parts.system,
    apiUrl: parts.apiUrl(),
    startPlanner: (env = {}) => start(["planner"], { ...parts.plannerEnv, ...env }),
    async close() {
      await Promise.all(running.map((roles) => roles.end()));
      await parts.close();
      await returnDatabase(parts.system.mongodbUrl);
    },
  };
}

/** Starts the API and an executor as processes, and waits until they are ready. */
export async function startWholeSystem(options: SystemOptions = {}): Promise<WholeSystem> {
  const parts = await openParts(options);
  const children: ChildProcess[] = [];

  /** Returns the line in which the service logs that it is ready. */
  async function start(
    role: RoleName,
    env: Record<string, string>,
  ): Promise<{ child: ChildProcess; readyLine: string }> {
    const child = spawnService(role, { ...parts.env, ...env });
    children.push(child);
    const readyLine = await new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        if (!stream) continue;
        createInterface(stream).on("line", (line) => {
          parts.onLine(role, line);
          if (line.includes(`${role} ready`)) resolve(line);
        });
      }
      child.once("exit", () =>
        reject(new TypeError(`${role} ended:\n${parts.system.loggedProblems().join("\n")}`)),
      );
    });
    return { child, readyLine };
  }

  /** @param port - the health port, by which the new executor knows that its predecessor has ended */
  const startExecutor = (port: string) => start("executor", { HEALTH_PORT: port });

  const [, first] = await Promise.all([start("api", { PORT: "0", ...options.api }), startExecutor("0")]);
  const executorPort = /"health":"[^"]+:(\d+)/.exec(first.readyLine)?.[1] ?? "0";
  let executor = first.child;
  return {
    ...parts.system,
    apiUrl: parts.apiUrl(),
    startPlanner: async (env = {}) => (await start("planner", { ...parts.plannerEnv, ...env })).child,
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
      await parts.close();
    },
  };
}

/** Warnings about a request, not about the system. */
const OF_A_REQUEST: ReadonlySet<string> = new Set([
  "not planned",
  "step failed",
  "step in doubt",
  "plan failed",
  "plan ended in part",
]);

/** What a system has beside its roles. */
async function openParts({ env, tools: moreTools, counting, mcpServers, fillDatabase }: SystemOptions) {
  const servers = testServers();
  await fillDatabase?.(servers.mongodbUrl);
  const folder = await mkdtemp(join(tmpdir(), "planwright-system-"));
  const tools = await startCountingToolServer({
    ledgerFile: join(folder, "ledger.jsonl"),
    tools: moreTools,
  });
  const model = await startModelServer();
  const serversFile = join(folder, "mcp-servers.json");
  await writeFile(
    serversFile,
    JSON.stringify({
      mcpServers: { counting: { url: tools.url, trusted: true, ...counting }, ...mcpServers },
    }),
  );
  const loggedProblems: string[] = [];
  const logLines: LogLine[] = [];
  let apiUrl = "";
  return {
    env: {
      MONGODB_URL: servers.mongodbUrl,
      REDIS_URL: servers.redisUrl,
      QUEUE_PREFIX: servers.redisPrefix,
      MCP_SERVERS_FILE: serversFile,
      DATA_DIR: join(folder, "data"),
      ...env,
    },
    plannerEnv: { HEALTH_PORT: "0", MODEL: "openai:test", OPENAI_BASE_URL: model.openAiUrl },
    /** Reads a line that a role logged or printed. */
    onLine(role: string, line: string): void {
      const logLine = toLogLine(line);
      if (logLine) logLines.push(logLine);
      const isUsual = logLine && OF_A_REQUEST.has(logLine.msg);
      if (!isUsual && !/"level":"(?:info|debug|trace)"/.test(line)) loggedProblems.push(`${role}: ${line}`);
      apiUrl = /"url":"([^"]+)","msg":"api ready"/.exec(line)?.[1] ?? apiUrl;
    },
    /** The address that the API logged when it was ready. */
    apiUrl: () => apiUrl,
    system: {
      mongodbUrl: servers.mongodbUrl,
      tools,
      model,
      loggedProblems: () => loggedProblems,
      logged: (requestId: string) => logLines.filter((line) => line.requestId === requestId),
    },
    async close(): Promise<void> {
      await Promise.all([tools.close(), model.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function toLogLine(line: string): LogLine | undefined {
  if (!line.startsWith("{")) return undefined;
  return LogLineSchema.safeParse(JSON.parse(line)).data;
}

/** The exports of the bundle "in-process", whose source is services/planwright/test/in-process.ts. */
interface InProcess {
  runInProcess(
    roles: readonly RoleName[],
    host: InProcessHost,
  ): Promise<{ run(reason: string): Promise<void> }>;
}

/** What roles see of the process that they run in. */
interface InProcessHost {
  env: Readonly<Record<string, string | undefined>>;
  on(): unknown;
  exit(code: number): never;
  stderr: { write(text: string): void };
  log: { write(line: string): void };
}

/**
 * Starts roles in this process, from the bundle of this test run.
 * @throws {TypeError} with what was logged, when a role does not start
 */
export async function startRoles(
  roles: readonly RoleName[],
  env: Record<string, string>,
  onLine: (role: string, line: string) => void,
): Promise<RunningRoles> {
  const program: InProcess = createRequire(import.meta.url)(bundledServices("in-process")["in-process"]);
  const said: string[] = [];
  const write = (text: string): void => {
    for (const line of text.trimEnd().split("\n")) {
      said.push(line);
      onLine(roles.join(), line);
    }
  };
  let isEnding = false;
  const exit = (code: number): undefined => {
    if (!isEnding) throw new TypeError(`${roles.join()} ended with ${code}:\n${said.join("\n")}`);
  };
  const { PATH } = process.env;
  const shutdown = await program.runInProcess(roles, {
    env: { PATH, ...env },
    on: () => undefined,
    exit: exit as InProcessHost["exit"],
    stderr: { write },
    log: { write },
  });
  return {
    end: () => {
      isEnding = true;
      return shutdown.run("test ended");
    },
  };
}
