import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StepRun } from "@planwright/engine";
import { isTerminalPlanStatus, parsePlan, type ToolPin } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore, type PlanDocument, type Store } from "@planwright/store";
import {
  bundledServices,
  type CountingToolServer,
  listSteps,
  returnDatabase,
  spawnService,
  startCountingToolServer,
  startRoles,
  testServers,
} from "@planwright/testing";

export const TENANT = "t1";
/**
 * For an executor that a test kills, so that its plans are soon taken over. Others have more time: a busy
 * machine suspends a process for seconds now and then, and a lease lost by that would look like a bug.
 */
export const SOON_DEAD = { DEAD_AFTER_MS: "3000" };
/** Long, for busy machines. */
const END_TIMEOUT_MS = 120_000;
const OUTPUT_TIMEOUT_MS = 60_000;

/**
 * No test here suspends the counting server, so a call that its lookup does not find after a moment never
 * happens.
 */
const OVERRIDES = {
  looked_up_effect: {
    lookup: { tool: "find_effect", arguments: { reference: "<<arguments.reference>>" }, settle_ms: 300 },
  },
};

/** An executor in the process of the test. */
export interface RunningExecutor {
  /** All that it has printed. */
  output(): string;
  /** Ends it in order, as SIGTERM ends a process. */
  end(): Promise<void>;
}

/** An executor that was started as a process. */
export interface ExecutorProcess {
  child: ChildProcess;
  /** All that it has printed. */
  output(): string;
  /** Resolves when it has printed the text; rejects when it ends before. */
  said(text: string): Promise<void>;
  exited: Promise<unknown[]>;
}

/** Executors, over the servers of this test run. */
export interface Workbench {
  /** URL of the database of this workbench. */
  mongodbUrl: string;
  store: Store;
  readonly tools: CountingToolServer;
  /** Cuts the tool server's connections and stops it; its effects stay in the ledger. */
  stopTools(): Promise<void>;
  /** Starts the tool server again at the same port. */
  startTools(): Promise<void>;
  /** Starts one more executor in the process of the test; resolves when it is ready. */
  startExecutor(env?: Record<string, string>): Promise<RunningExecutor>;
  /** Starts one more executor as a process and does not wait for it. */
  spawnExecutor(env?: Record<string, string>): ExecutorProcess;
  /** Starts one more executor as a process, which a test can kill or watch; resolves when it is ready. */
  startProcess(env?: Record<string, string>): Promise<ChildProcess>;
  /** Ends an executor and waits until it has exited; returns its exit code and signal. */
  stopExecutor(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]>;
  /**
   * Submits a plan for execution at once, as a client would. @param toolPins - pins of its tools; default:
   * none
   */
  submit(plan: unknown, toolPins?: ToolPin[]): Promise<PlanDocument>;
  /** Hints at a plan through the queue, as the API does; without it the sweepers find it. */
  offer(plan: PlanDocument): void;
  /** Waits for a state of the plan; after the timeout rejects with the output of the executors. */
  until(planId: string, isReached: (plan: PlanDocument) => boolean): Promise<PlanDocument>;
  /** Waits for a terminal state. */
  end(planId: string): Promise<{ plan: PlanDocument; steps: Map<string, StepRun> }>;
  steps(planId: string): Promise<Map<string, StepRun>>;
  close(): Promise<void>;
}

/**
 * @param mcpServers - in addition to the counting server, which is named "counting" and trusted
 * @param counting - further settings of the counting server in the servers file
 */
export async function openWorkbench(
  mcpServers: Record<string, unknown> = {},
  counting: Record<string, unknown> = {},
): Promise<Workbench> {
  const servers = testServers();
  const folder = await mkdtemp(join(tmpdir(), "planwright-executor-"));
  // Many tests create their indexes at the same time, on a busy machine.
  const store = await createStore({ url: servers.mongodbUrl, timeoutMs: 60_000 });
  const ledgerFile = join(folder, "ledger.jsonl");
  let tools = await startCountingToolServer({ ledgerFile });
  const { port } = tools;
  const serversFile = join(folder, "mcp-servers.json");
  await writeFile(
    serversFile,
    JSON.stringify({
      mcpServers: {
        counting: { url: tools.url, trusted: true, tools: OVERRIDES, ...counting },
        ...mcpServers,
      },
    }),
  );
  const queues = createQueues({ redisUrl: servers.redisUrl, prefix: servers.redisPrefix });
  const executors: { end: () => Promise<unknown>; output: () => string }[] = [];
  const envOf = (env: Record<string, string>): Record<string, string> => ({
    MONGODB_URL: servers.mongodbUrl,
    REDIS_URL: servers.redisUrl,
    QUEUE_PREFIX: servers.redisPrefix,
    MCP_SERVERS_FILE: serversFile,
    DATA_DIR: join(folder, "data"),
    HEALTH_PORT: "0",
    SWEEP_EVERY_MS: "200",
    DEAD_AFTER_MS: "10000",
    ...env,
  });

  async function steps(planId: string): Promise<Map<string, StepRun>> {
    const documents = await listSteps(store, TENANT, [planId]);
    return new Map(documents.map((document) => [document.key, document]));
  }

  async function until(planId: string, isReached: (plan: PlanDocument) => boolean): Promise<PlanDocument> {
    const deadline = performance.now() + END_TIMEOUT_MS;
    for (;;) {
      const plan = await store.getPlan(TENANT, planId);
      if (plan && isReached(plan)) return plan;
      if (performance.now() > deadline) {
        const said = executors.map(({ output }, index) => `executor ${index}:\n${output()}`);
        throw new TypeError(`The plan makes no progress: ${JSON.stringify(plan)}\n${said.join("\n")}`);
      }
      await delay(50);
    }
  }

  async function stopExecutor(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
    const exit = once(child, "exit");
    child.kill(signal);
    return exit;
  }

  function spawnExecutor(env: Record<string, string> = {}): ExecutorProcess {
    // Bundling stops this process: not while it waits for the executor, or serves its tools.
    bundledServices("executor", "in-process");
    const child = spawnService("executor", envOf(env));
    let output = "";
    const end = async (): Promise<void> => {
      if (child.exitCode === null && child.signalCode === null) await stopExecutor(child, "SIGKILL");
    };
    executors.push({ end, output: () => output });
    const exited = once(child, "exit");
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        child.emit("output");
      });
    }
    const said = async (text: string): Promise<void> => {
      const timeout = AbortSignal.timeout(OUTPUT_TIMEOUT_MS);
      const timedOut = once(timeout, "abort");
      while (!output.includes(text)) {
        const heard = once(child, "output");
        if (timeout.aborted || child.exitCode !== null || child.signalCode !== null) {
          throw new TypeError(`The executor said nothing of "${text}":\n${output}`);
        }
        await Promise.race([heard, exited, timedOut]);
      }
    };
    return { child, output: () => output, said, exited };
  }

  return {
    mongodbUrl: servers.mongodbUrl,
    store,
    get tools() {
      return tools;
    },
    stopTools: () => tools.close(),
    async startTools() {
      tools = await startCountingToolServer({ ledgerFile, port });
    },
    steps,
    stopExecutor,
    spawnExecutor,
    async startExecutor(env = {}) {
      const lines: string[] = [];
      const settings = envOf({ SHUTDOWN_TIMEOUT_MS: "100", ...env });
      const roles = await startRoles(["executor"], settings, (_, line) => lines.push(line));
      const executor = { end: () => roles.end(), output: () => lines.join("\n") };
      executors.push(executor);
      return executor;
    },
    async startProcess(env = {}) {
      const { child, said } = spawnExecutor(env);
      await said("executor ready");
      return child;
    },
    async submit(plan, toolPins) {
      const parsed = parsePlan(plan);
      if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
      const submitted = await store.submitPlan({
        tenant: TENANT,
        query: null,
        plan: parsed.plan,
        toolPins,
        raw: JSON.stringify(plan),
        diagnostics: [],
        autoExecute: true,
      });
      return submitted.plan;
    },
    offer: (plan) => queues.offerExecution(plan),
    until,
    async end(planId) {
      const plan = await until(planId, ({ status }) => isTerminalPlanStatus(status));
      return { plan, steps: await steps(planId) };
    },
    async close() {
      await Promise.all(executors.map(({ end }) => end()));
      await queues.close();
      await tools.close();
      await store.close();
      await returnDatabase(servers.mongodbUrl);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The most memory that a process has had, in MiB. */
export function peakMiB({ pid }: ChildProcess): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1_024;
}
