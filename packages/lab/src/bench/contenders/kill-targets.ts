import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiRefusedError, createClient, graphql, type ResultOf } from "@planwright/client";
import {
  freePort,
  type ManagedProcess,
  type Supervision,
  startChild,
  startStack,
  supervise,
} from "@planwright/local";
import { bundleWithCodeCache, countingToolServerCommand } from "@planwright/testing";
import { z } from "zod";
import { diamond } from "../../random/plan-shapes.ts";
import { waitForTools } from "../../servers/servers.ts";
import { type AcceptedPlan, effectOf } from "../kill-figures.ts";
import { ownVersion } from "./contender.ts";
import { PEER_PACKAGES } from "./peer-packages.ts";
import { startPostgres, superviseDbosService } from "./peers.ts";

/** A diamond whose steps are calls of this tool, each an effect that names plan and step. */
export interface EffectPlan {
  /** Chosen by the client. A submission with a known name makes no other plan. */
  name: string;
  tool: "keyed_effect" | "plain_effect";
}

/** How a plan stands, as its system reports it. */
export type PlanReading = Pick<AcceptedPlan, "completed" | "inDoubt"> & {
  state: AcceptedPlan["last"]["state"];
  /** Its steps in doubt, each with how its attempts ended. */
  doubts?: readonly string[];
};

/** A running system whose processes may be killed at any time. */
export interface KillableSystem {
  name: string;
  versions: Readonly<Record<string, string>>;
  /** The tools with which its plans are measured. */
  tools: readonly EffectPlan["tool"][];
  /** Its processes, which restart on their old ports. */
  targets: Readonly<Record<string, ManagedProcess>>;
  /** The effects that happened, for `readLedger`. */
  ledgerFile: string;
  /**
   * Submits a plan and returns its id once it is accepted, without waiting for its end.
   * @throws any error while the system does not answer; then the plan may have been accepted
   */
  submit(plan: EffectPlan): Promise<string>;
  /** @throws any error while the system does not answer */
  read(id: string): Promise<PlanReading>;
  close(): Promise<void>;
}

/** Options of the systems. */
export interface KillableOptions {
  /** Folder for data and logs, of this system alone. */
  dataDir: string;
  /** Called when a process ends that was not killed. It is started again. */
  onUnexpectedEnd: NonNullable<Supervision["onUnexpectedEnd"]>;
}

/** A call takes this long before its effect, and as long afterwards, in milliseconds. */
const HALF_CALL_MS = 25;
/** Longer than an answer takes on a machine that is busy with restarts, in milliseconds. */
const ANSWER_TIMEOUT_MS = 5_000;
const RESTART_DELAY_MS = 100;

/** A step's arguments. */
const argumentsOf = (plan: string, step: string) => ({
  value: effectOf(plan, step),
  latencyMs: HALF_CALL_MS,
  answerAfterMs: HALF_CALL_MS,
});

const STEPS = diamond(5);

const SUBMIT = graphql(`mutation ($plan: JSON!, $key: String!) {
  submitPlan(plan: $plan, idempotencyKey: $key) { requestId }
}`);
const READ = graphql(`query ($id: ID!) {
  request(requestId: $id) { status plan { status waitReason steps { key status attempts { error { code } } } } }
}`);

/**
 * The whole system from its build, with its own MongoDB and tool server over streamable HTTP, apart with a Redis too.
 * @param isTogether - true: API, planner and executor in one process, as `npm start` runs them. False: each in its
 *   own, with a second executor
 */
export async function startKillablePlanwright(
  isTogether: boolean,
  { dataDir, onUnexpectedEnd }: KillableOptions,
): Promise<KillableSystem> {
  mkdirSync(dataDir, { recursive: true });
  const supervision: Supervision = { onUnexpectedEnd, restartDelayMs: () => RESTART_DELAY_MS };
  const tools = await startTools(dataDir, supervision);
  const serversFile = join(dataDir, "own-servers.json");
  const counting = { type: "http", url: tools.url, trusted: true };
  writeFileSync(serversFile, JSON.stringify({ mcpServers: { counting } }));
  const { PATH, HOME } = process.env;
  const stack = await startStack({
    dataDir,
    isTogether,
    isSupervised: true,
    env: { PATH, HOME, MCP_SERVERS_FILE: serversFile },
    // The stack tells of an unexpected end in a line.
    say(line) {
      if (!line.includes("is started again")) return;
      onUnexpectedEnd({ name: "stack", how: line, wasReady: true, restartsInMs: undefined });
    },
  });
  const { api, planner, executor, mongo, redis } = stack.processes;
  // One process uses no Redis.
  const { mongodbUrl, redisUrl } = stack;
  const second =
    redisUrl === undefined
      ? undefined
      : await startSecondExecutor({ dataDir, MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl }, supervision);
  await waitForTools(stack.apiUrl, ["keyed_effect", "plain_effect"]);
  const client = createClient({ url: stack.apiUrl, timeoutMs: ANSWER_TIMEOUT_MS });
  return {
    name: isTogether ? "Planwright" : "Planwright apart",
    versions: { version: ownVersion() },
    tools: ["keyed_effect", "plain_effect"],
    targets: {
      ...(second ? { api, planner, executor, "executor-2": second } : { planwright: api }),
      mongod: mongo,
      ...(redis && { redis }),
      tools: tools.process,
    },
    ledgerFile: tools.ledgerFile,
    async submit({ name, tool }) {
      const steps = STEPS.map(({ id, dependsOn }) => ({
        id,
        dependsOn: [...dependsOn],
        tool,
        arguments: argumentsOf(name, id),
      }));
      const answer = await client.execute(SUBMIT, { plan: { steps }, key: name });
      return answer.submitPlan.requestId;
    },
    async read(id) {
      try {
        return toReading(await client.execute(READ, { id }));
      } catch (error) {
        if (!(error instanceof ApiRefusedError && error.facts.code === "NOT_FOUND")) throw error;
        return { state: "unknown", completed: [], inDoubt: [] };
      }
    },
    async close() {
      await second?.kill();
      await stack.kill();
      await tools.process.kill();
    },
  };
}

function toReading({ request }: ResultOf<typeof READ>): PlanReading {
  if (!request) return { state: "unknown", completed: [], inDoubt: [] };
  const { status, plan } = request;
  const steps = plan?.steps ?? [];
  const idsOf = (wanted: string) => steps.filter((step) => step.status === wanted).map(({ key }) => key);
  const doubts = steps.flatMap(({ key, status: at, attempts }) =>
    at === "IN_DOUBT"
      ? [`${key} after ${attempts.map(({ error }) => error?.code ?? "no end").join(", ")}`]
      : [],
  );
  const facts = { completed: idsOf("COMPLETED"), inDoubt: idsOf("IN_DOUBT"), doubts };
  if (status === "COMPLETED") return { state: "completed", ...facts };
  if (status === "EXECUTING") {
    const waits = plan?.status === "WAITING" && plan.waitReason === "in doubt";
    return { state: waits ? "waits" : "running", ...facts };
  }
  return { state: "failed", ...facts };
}

const SERVICES = new URL("../../../../../services/", import.meta.url);

/** Another executor for a stack: the stack itself starts one. */
async function startSecondExecutor(
  { dataDir, ...urls }: { dataDir: string; MONGODB_URL: string; REDIS_URL: string },
  supervision: Supervision,
): Promise<ManagedProcess> {
  const port = await freePort();
  const name = "executor-2";
  const env = {
    PATH: process.env["PATH"],
    ...urls,
    NODE_ENV: "production",
    MCP_SERVERS_FILE: join(dataDir, "mcp-servers.json"), // written by the stack
    DATA_DIR: join(dataDir, name),
    HEALTH_PORT: String(port),
  };
  const args = ["--max-semi-space-size=32", fileURLToPath(new URL("executor/dist/main.js", SERVICES))];
  const logFile = join(dataDir, "logs", `${name}.log`);
  return supervise({
    ...supervision,
    name,
    spawn: () => startChild({ name, command: process.execPath, args, env, logFile }),
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok,
  });
}

const TOOL_SERVER = new URL("../../../../testing/src/counting-tool-server/main.ts", import.meta.url);

/** The tool server, bundled so that it restarts as fast as services. Its effects are on disk before their answers. */
async function startTools(
  dataDir: string,
  supervision: Supervision,
): Promise<{ process: ManagedProcess; url: string; ledgerFile: string }> {
  const port = await freePort();
  const ledgerFile = join(dataDir, "ledger.jsonl");
  const main = await bundleWithCodeCache(join(dataDir, "tools"), fileURLToPath(TOOL_SERVER), [
    "--script",
    "none",
  ]);
  const command = countingToolServerCommand({ ledgerFile, port, main });
  const url = `http://127.0.0.1:${port}`;
  const process = await supervise({
    ...supervision,
    name: "tools",
    spawn: () => startChild({ name: "tools", ...command, logFile: join(dataDir, "logs", "tools.log") }),
    isReady: async () => (await fetch(`${url}/healthz`)).ok,
  });
  return { process, url: `${url}/mcp`, ledgerFile };
}

const DbosStatusSchema = z.object({ status: z.string() }).nullable();
/** The states in which DBOS will execute a workflow further. */
const DBOS_RUNNING: ReadonlySet<string> = new Set(["PENDING", "ENQUEUED", "DELAYED"]);

/**
 * One process with DBOS and our HTTP server, with its PostgreSQL and the tool server. What was running when it
 * was killed is continued by DBOS itself at its next start.
 */
export async function startKillableDbos({
  dataDir,
  onUnexpectedEnd,
  installed,
}: KillableOptions & { installed: string }): Promise<KillableSystem> {
  mkdirSync(dataDir, { recursive: true });
  const supervision: Supervision = { onUnexpectedEnd, restartDelayMs: () => RESTART_DELAY_MS };
  const tools = await startTools(dataDir, supervision);
  const postgres = await startPostgres({ dataDir, installed, supervision });
  const { service, url } = await superviseDbosService({
    dataDir,
    installed,
    supervision,
    env: { DATABASE_URL: postgres.url, TOOLS_URL: tools.url },
  });
  const send = async (path: string, body?: object): Promise<string> => {
    const answer = await fetch(new URL(path, url), {
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new TypeError(`DBOS answered ${answer.status}: ${text}`);
    return text;
  };
  return {
    name: "DBOS",
    versions: { version: PEER_PACKAGES["@dbos-inc/dbos-sdk"], PostgreSQL: postgres.version },
    tools: ["plain_effect"],
    targets: { service, postgres: postgres.process, tools: tools.process },
    ledgerFile: tools.ledgerFile,
    async submit({ name, tool }) {
      const steps = STEPS.map(({ id }) => ({ id, tool, arguments: argumentsOf(name, id) }));
      await send(`/effects/${name}`, steps);
      return name;
    },
    async read(id) {
      const found = DbosStatusSchema.parse(JSON.parse(await send(`/effects/${id}`)));
      if (found === null) return { state: "unknown", completed: [], inDoubt: [] };
      if (DBOS_RUNNING.has(found.status)) return { state: "running", completed: [], inDoubt: [] };
      if (found.status !== "SUCCESS") return { state: "failed", completed: [], inDoubt: [] };
      return { state: "completed", completed: STEPS.map((step) => step.id), inDoubt: [] };
    },
    async close() {
      await Promise.all([service.kill(), postgres.process.kill(), tools.process.kill()]);
    },
  };
}
