import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createStore, type Store } from "@planwright/store";
import {
  type CountingToolServer,
  type ModelServer,
  type ServiceName,
  spawnService,
  startCountingToolServer,
  startModelServer,
  testServers,
} from "@planwright/testing";

/** Parsed JSON, of any shape: what a test reads of it, it checks. */
type Answer = ReturnType<typeof JSON.parse>;

/** API, planner and executor as processes, with tools that count and a model that says what it is told to. */
export interface WholeSystem {
  store: Store;
  tools: CountingToolServer;
  model: ModelServer;
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a sentence; `options` are further arguments of createPlan. Gives the request's id. */
  createPlan(query: string, options?: string): Promise<string>;
  /** Waits for a state of the request, as {@link REQUEST} reads it. */
  until(requestId: string, isReached: (request: Answer) => boolean): Promise<Answer>;
  startPlanner(env?: Record<string, string>): Promise<ChildProcess>;
  close(): Promise<void>;
}

/** What tests read of a request. */
const REQUEST = `query ($id: ID!) { request(requestId: $id) { status version replans error { code message } answer answerError { code message }
  modelCalls { purpose error { code } }
  plan { status policy: document steps { id status carriedFrom approvalHash resolvedArguments output error { code } } }
  plans { version status } } }`;
/** For machines with much else to do. */
const PATIENCE_MS = 120_000;
const TENANT = "default";

/** Starts everything but the planner. @param common - environment of all services */
export async function startWholeSystem(common: Record<string, string> = {}): Promise<WholeSystem> {
  const servers = testServers();
  const folder = await mkdtemp(join(tmpdir(), "planwright-planner-"));
  const tools = await startCountingToolServer({ ledgerFile: join(folder, "ledger.jsonl") });
  const model = await startModelServer();
  const store = await createStore({ url: servers.mongodbUrl });
  const serversFile = join(folder, "mcp-servers.json");
  await writeFile(
    serversFile,
    JSON.stringify({ mcpServers: { counting: { url: tools.url, trusted: true } } }),
  );
  const children: ChildProcess[] = [];
  const start = async (
    service: ServiceName,
    env: Record<string, string>,
  ): Promise<[ChildProcess, string]> => {
    const child = spawnService(service, {
      MONGODB_URL: servers.mongodbUrl,
      REDIS_URL: servers.redisUrl,
      QUEUE_PREFIX: servers.redisPrefix,
      SWEEP_EVERY_MS: "100",
      ...common,
      ...env,
    });
    children.push(child);
    return [child, await readyLine(child, service)];
  };
  const [[, said]] = await Promise.all([
    start("api", { PORT: "0", TENANT }),
    start("executor", { HEALTH_PORT: "0", LEASE_MS: "1500", MCP_SERVERS_FILE: serversFile }),
  ]);
  const url = /"url":"([^"]+)"/.exec(said)?.[1] ?? "";

  async function graphql(
    query: string,
    variables: object = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors }: Answer = await response.json();
    if (errors) throw new TypeError(JSON.stringify(errors));
    return data;
  }

  return {
    store,
    tools,
    model,
    graphql,
    async createPlan(query, options = "") {
      const field = `createPlan(query: $query${options === "" ? "" : `, ${options}`})`;
      const data = await graphql(`mutation ($query: String!) { ${field} { requestId } }`, { query });
      return data.createPlan.requestId;
    },
    async until(requestId, isReached) {
      const giveUpAt = performance.now() + PATIENCE_MS;
      for (;;) {
        const { request } = await graphql(REQUEST, { id: requestId });
        if (isReached(request)) return request;
        if (performance.now() > giveUpAt) throw new TypeError(`It stays ${JSON.stringify(request)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async startPlanner(env = {}) {
      const [child] = await start("planner", {
        HEALTH_PORT: "0",
        PLANNING_LEASE_MS: "1500",
        MODEL: "openai:test",
        OPENAI_BASE_URL: model.openAiUrl,
        ...env,
      });
      return child;
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
      await Promise.all([tools.close(), model.close(), store.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The line in which a service says that it is ready. */
function readyLine(child: ChildProcess, service: string): Promise<string> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface(stream).on("line", (line) => {
        lines.push(line);
        if (line.includes(`${service} ready`)) resolve(line);
      });
    }
    child.once("exit", () => reject(new TypeError(`${service} ended:\n${lines.join("\n")}`)));
  });
}
