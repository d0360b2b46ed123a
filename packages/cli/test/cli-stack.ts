import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, graphql, type ResultOf } from "@planwright/client";
import { type Stack, startStack } from "@planwright/local";
import { bundledServices, type CountingToolServer, startCountingToolServer } from "@planwright/testing";
import { build, cleanEnv, planwright, type Ran, shell } from "./planwright.ts";

/** The whole system, with tools that can be hurt. */
export interface CliStack {
  stack: Stack;
  /** Stands for the counting server that listens now. */
  tools(): CountingToolServer;
  /** A user's environment that knows where the API is. */
  env: NodeJS.ProcessEnv;
  folder: string;
  /** Runs a command against the system. */
  cli(...args: string[]): Promise<Ran>;
  /** Types a line into a shell, in the folder of the stack, where `planwright` is on the PATH. */
  shell(line: string): Promise<Ran>;
  /** Hands in a plan to be executed and does not follow it. */
  submit(steps: object[], more?: object): Promise<string>;
  /** The status of a request's steps by key, with the plan's and the request's own. */
  read(requestId: string): Promise<Read>;
  /** Waits for a state. */
  until(requestId: string, isReached: (read: Read) => boolean): Promise<Read>;
  /** The counting server goes away, and comes back on the same port. */
  stopTools(): Promise<void>;
  startTools(): Promise<void>;
  /** Runs one more process of a service until it ends by itself, or until the function has. */
  withService<T>(
    name: "executor" | "planner",
    env: NodeJS.ProcessEnv,
    during?: () => Promise<T>,
  ): Promise<T | undefined>;
  close(): Promise<void>;
}

const READ = graphql(`query ($requestId: ID!) {
  request(requestId: $requestId) {
    status planId plan { status planHash waitReason steps { key status waitReason approvalHash } }
  }
}`);
/** A request as tests look at it. */
export type Read = NonNullable<ResultOf<typeof READ>["request"]>;

const TIMEOUT_MS = 60_000;
/** Bundled services load in a third of the time. */
const bundles = bundledServices();

/**
 * Builds and starts it. Leases are short, so that what dies is missed soon.
 * @param moreServers - further entries of the servers file, made for the folder of the stack
 */
export async function startCliStack(moreServers: (folder: string) => object = () => ({})): Promise<CliStack> {
  build();
  const folder = mkdtempSync(join(tmpdir(), "planwright-cli-"));
  const ledgerFile = join(folder, "ledger.jsonl");
  let tools = await startCountingToolServer({ ledgerFile });
  const { port } = tools;
  const serversFile = join(folder, "mine.json");
  const counting = { url: tools.url, trusted: true, tools: { set_value: { requires_approval: true } } };
  writeFileSync(serversFile, JSON.stringify({ mcpServers: { counting, ...moreServers(folder) } }));
  const dataDir = join(folder, "data");
  const stack = await startStack({
    dataDir,
    env: cleanEnv({ MCP_SERVERS_FILE: serversFile }),
    settings: { executor: { DEAD_AFTER_MS: "3000", LIMIT_LEASE_MS: "3000" } },
    mains: bundles,
  });
  const env = { PLANWRIGHT_URL: stack.apiUrl };
  /** A test that gives up leaves none of them behind. */
  const extra = new Set<ChildProcess>();

  const client = createClient({ url: stack.apiUrl });
  const read = (requestId: string): Promise<Read> => client.readRequest(READ, requestId);

  return {
    stack,
    tools: () => tools,
    env,
    folder,
    cli: (...args) => planwright(args, { env }),
    shell: (line) => shell(line, { env, folder }),
    async submit(steps, more = {}) {
      const input = JSON.stringify({ steps, ...more });
      const ran = await planwright(["submit", "-", "--execute", "--detach"], { env, input });
      if (ran.exitCode !== 0) throw new TypeError(JSON.stringify(ran));
      return ran.stdout.trim();
    },
    read,
    async until(requestId, isReached) {
      const giveUpAt = performance.now() + TIMEOUT_MS;
      for (;;) {
        const now = await read(requestId);
        if (isReached(now)) return now;
        if (performance.now() > giveUpAt) throw new TypeError(`It stays ${JSON.stringify(now)}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Status of one step. */
export function statusOf(read: Read, key: string): string | undefined {
  return read.plan?.steps.find((step) => step.key === key)?.status;
}

export const readText = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
