import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, graphql, type ResultOf } from "@planwright/client";
import { type Stack, startStack } from "@planwright/local";
import {
  bundledServices,
  type CountingToolServer,
  type System,
  startCountingToolServer,
  startSystem,
  testServers,
} from "@planwright/testing";
import { buildSchema, type GraphQLSchema } from "graphql";
import { build, cleanEnv, planwright, type Ran, shell } from "./planwright.ts";

/** What tests of commands do with a system. */
interface Operations {
  /** The counting server that listens now. */
  tools(): CountingToolServer;
  /** The environment of a user, with the address of the API. */
  env: NodeJS.ProcessEnv;
  /** The working directory of the test until `close`, as that of a user who types the commands. */
  folder: string;
  /** Runs a command against the system. */
  cli(...args: string[]): Promise<Ran>;
  /** Runs a line in a shell that knows `planwright`, in the folder of the system. */
  shell(line: string): Promise<Ran>;
  /** Submits a plan for execution and does not follow it. */
  submit(steps: object[], more?: object): Promise<string>;
  /** The status of a request, its plan and its steps. */
  read(requestId: string): Promise<Read>;
  /** Waits until the request has reached a state. */
  until(requestId: string, isReached: (read: Read) => boolean): Promise<Read>;
  close(): Promise<void>;
}

/** The complete system in the process of the test, with tools that a test can make fail. */
export interface CliSystem extends Operations {
  apiUrl: string;
  /** Runs the planner with other settings until `during` has returned. */
  withPlanner<T>(env: Record<string, string>, during: () => Promise<T>): Promise<T>;
}

/** The complete system as processes, which a test may kill and restart. */
export interface CliStack extends Operations {
  stack: Stack;
  /** Stops the counting server; `startTools` starts it on the same port again. */
  stopTools(): Promise<void>;
  startTools(): Promise<void>;
  /** Runs one more process of a service until it ends by itself, or until `during` has returned. */
  withService<T>(
    name: "executor" | "planner",
    env: NodeJS.ProcessEnv,
    during?: () => Promise<T>,
  ): Promise<T | undefined>;
}

const READ = graphql(`query ($requestId: ID!) {
  request(requestId: $requestId) {
    status planId plan { status planHash waitReason steps { key status waitReason approvalHash } }
  }
}`);
/** The part of a request that tests read. */
export type Read = NonNullable<ResultOf<typeof READ>["request"]>;

const TIMEOUT_MS = 60_000;
/**
 * Bundled services start in a third of the time. Asked for at the top, because making them may take longer than the
 * start of a system may on a busy machine.
 */
const bundles = bundledServices("api", "planner", "executor", "blog-tools", "in-process");

/** Settings of the counting server. */
const COUNTING = { tools: { set_value: { requires_approval: true } } };

function operations(
  apiUrl: string,
  folder: string,
): Pick<Operations, "env" | "folder" | "cli" | "shell" | "submit" | "read" | "until"> {
  const env = { PLANWRIGHT_URL: apiUrl };
  const client = createClient({ url: apiUrl });
  const read = (requestId: string): Promise<Read> => client.readRequest(READ, requestId);
  return {
    env,
    folder,
    cli: (...args) => planwright(args, { env }),
    shell: (line) => shell(line, env),
    async submit(steps, more = {}) {
      const input = JSON.stringify({ steps, ...more });
      const ran = await planwright(["submit", "-", "--execute", "--detach"], { env, input });
      if (ran.exitCode !== 0) throw new TypeError(JSON.stringify(ran));
      return ran.stdout.trim();
    },
    read,
    async until(requestId, isReached) {
      const deadlineAt = performance.now() + TIMEOUT_MS;
      for (;;) {
        const now = await read(requestId);
        if (isReached(now)) return now;
        if (performance.now() > deadlineAt) throw new TypeError(`The request stays ${JSON.stringify(now)}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
  };
}

/** A new folder, which is the working directory of the test until `leave` deletes it. */
function enterFolder(): { folder: string; leave: () => void } {
  const before = process.cwd();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "planwright-cli-")));
  process.chdir(folder);
  return {
    folder,
    leave() {
      process.chdir(before);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts the system in the process of the test, with the blog tools and the planner that needs no model.
 * @param moreServers - further entries of the servers file, made for the folder of the system
 */
export async function startCliSystem(
  moreServers: (folder: string) => Readonly<Record<string, object>> = () => ({}),
): Promise<CliSystem> {
  const { folder, leave } = enterFolder();
  const blog = {
    command: process.execPath,
    args: [bundles["blog-tools"], "--stdio"],
    env: { MONGODB_URL: testServers().mongodbUrl },
    trusted: true,
  };
  const system: System = await startSystem({
    counting: COUNTING,
    mcpServers: { blog, ...moreServers(folder) },
  });
  const withoutModel = { MODEL: "" };
  let planner = await system.startPlanner(withoutModel);
  return {
    ...operations(system.apiUrl, folder),
    apiUrl: system.apiUrl,
    tools: () => system.tools,
    async withPlanner(env, during) {
      await planner.end();
      const other = await system.startPlanner(env);
      try {
        return await during();
      } finally {
        await other.end();
        planner = await system.startPlanner(withoutModel);
      }
    },
    async close() {
      await system.close();
      leave();
    },
  };
}

/**
 * Builds and starts the system as processes. Leases are short, so that a dead worker is noticed soon.
 * @param moreServers - further entries of the servers file, made for the folder of the stack
 */
export async function startCliStack(moreServers: (folder: string) => object = () => ({})): Promise<CliStack> {
  build();
  const { folder, leave } = enterFolder();
  const ledgerFile = join(folder, "ledger.jsonl");
  let tools = await startCountingToolServer({ ledgerFile });
  const { port } = tools;
  const serversFile = join(folder, "mine.json");
  const counting = { url: tools.url, trusted: true, ...COUNTING };
  writeFileSync(serversFile, JSON.stringify({ mcpServers: { counting, ...moreServers(folder) } }));
  const dataDir = join(folder, "data");
  const stack = await startStack({
    dataDir,
    env: cleanEnv({ MCP_SERVERS_FILE: serversFile }),
    settings: { executor: { DEAD_AFTER_MS: "3000", LIMIT_LEASE_MS: "3000" } },
    mains: bundles,
  });
  /** Killed at the end, also when a test fails. */
  const extra = new Set<ChildProcess>();

  return {
    ...operations(stack.apiUrl, folder),
    stack,
    tools: () => tools,
    stopTools: () => tools.close(),
    async startTools() {
      tools = await startCountingToolServer({ ledgerFile, port });
    },
    async withService(name, more, during) {
      const child = spawn(process.execPath, [bundles[name]], {
        env: cleanEnv({
          MONGODB_URL: stack.mongodbUrl,
          REDIS_URL: stack.redisUrl,
          MCP_SERVERS_FILE: join(dataDir, "mcp-servers.json"),
          HEALTH_PORT: "0",
          LOG_LEVEL: "error",
          ...more,
        }),
        stdio: "ignore",
      });
      extra.add(child);
      const exited = once(child, "exit");
      if (!during) {
        await exited;
        return undefined;
      }
      try {
        return await during();
      } finally {
        child.kill("SIGKILL");
        await exited;
      }
    },
    async close() {
      for (const child of extra) child.kill("SIGKILL");
      await stack.stop();
      await tools.close();
      leave();
    },
  };
}

/** The status of one step. */
export function statusOf(read: Read, key: string): string | undefined {
  return read.plan?.steps.find((step) => step.key === key)?.status;
}

export const readText = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

/** The API's schema: its .graphql files, one a subject. */
export function readApiSchema(): GraphQLSchema {
  const folder = "../../../services/api/src/graphql/";
  const files = readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith(".graphql"));
  return buildSchema(files.map((name) => readText(folder + name)).join("\n"));
}
