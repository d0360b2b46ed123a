import { once } from "node:events";
import { createStore, type Store } from "@planwright/store";
import {
  type ModelScript,
  type ModelServer,
  returnDatabase,
  startModelServer,
  startRoles,
  testServers,
} from "@planwright/testing";
import { vi } from "vitest";
import { spawnPlanner } from "./planner-process.ts";
import { TOOLS } from "./tools.ts";

/** Long, for busy machines. */
const TIMEOUT_MS = 60_000;
/**
 * Of the planner that crashes: long enough that a process which is frozen for 1.5 s still sends its heartbeat
 * in time.
 */
const DEAD_AFTER_MS = 2_500;
/**
 * Of the one that takes over. A busy machine may suspend it for seconds; each lost lease repeats the call of
 * the model, which these tests count.
 */
const TAKES_OVER_DEAD_AFTER_MS = 20_000;
/** Longer than {@link DEAD_AFTER_MS}: a planner that is frozen for this time is declared dead. */
export const PAUSE_MS = 4_000;
/** A model that answers this late is still running when held requests are compared with the database. */
export const SLOW_MODEL_MS = 1_500;

/** Planners that crash on purpose, over a database with the tools of these tests and a scripted model. */
export interface CrashBench {
  store: Store;
  model: ModelServer;
  /** Starts a planner in the process of the test; it ends with the test. */
  start(env?: Record<string, string>): Promise<void>;
  /**
   * Starts a planner and waits until it has reached its failpoint, and has exited if the failpoint kills it. One that
   * only fails is in the process of the test. Rejects with the output of the planner.
   */
  crash(setting: string, env?: Record<string, string>): Promise<void>;
}

/**
 * @param script - the script of the model
 * @param whenFinished - registers functions that are called at the end of the test
 */
export async function openCrashBench(
  script: ModelScript,
  whenFinished: (end: () => Promise<void> | void) => void,
): Promise<CrashBench> {
  const servers = testServers();
  whenFinished(() => returnDatabase(servers.mongodbUrl));
  // Many tests create their indexes at the same time, on a busy machine.
  const store = await createStore({ url: servers.mongodbUrl, timeoutMs: 60_000 });
  whenFinished(() => store.close());
  const tools = TOOLS.map((descriptor) => ({ descriptor, digest: "0".repeat(64) }));
  await store.publishTools("notes", tools);
  const model = await startModelServer({ script });
  whenFinished(() => model.close());
  const basics = {
    MONGODB_URL: servers.mongodbUrl,
    REDIS_URL: servers.redisUrl,
    QUEUE_PREFIX: servers.redisPrefix,
    HEALTH_PORT: "0",
    DEAD_AFTER_MS: String(TAKES_OVER_DEAD_AFTER_MS),
    SWEEP_EVERY_MS: "100",
    SHUTDOWN_TIMEOUT_MS: "100",
    MODEL: "openai:test",
    OPENAI_BASE_URL: model.openAiUrl,
  };

  async function start(
    env: Record<string, string> = {},
    onLine: (line: string) => void = () => undefined,
  ): Promise<void> {
    const roles = await startRoles(["planner"], { ...basics, ...env }, (_, line) => onLine(line));
    whenFinished(() => roles.end());
  }

  /** Starts a planner as a process. @returns resolves when it has ended */
  function spawn(env: Record<string, string>, onOutput: (text: string) => void): Promise<unknown> {
    const child = spawnPlanner({ ...basics, ...env });
    whenFinished(() => void child.kill("SIGKILL"));
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => onOutput(chunk.toString()));
    return once(child, "close");
  }

  async function crash(setting: string, env: Record<string, string> = {}): Promise<void> {
    const victim = { FAILPOINT: setting, DEAD_AFTER_MS: String(DEAD_AFTER_MS), ...env };
    let output = "";
    const onOutput = (text: string): void => {
      output += text;
    };
    let hasEnded = false;
    if (setting.endsWith("error")) await start(victim, onOutput);
    else void spawn(victim, onOutput).then(() => (hasEnded = true));
    const isReached = () => output.includes(`failpoint ${setting}`);
    const isDone = () => hasEnded || (isReached() && !setting.endsWith("kill"));
    await vi.waitUntil(isDone, { timeout: TIMEOUT_MS, interval: 10 }).catch(() => undefined);
    if (!isReached()) throw new TypeError(`The planner did not come to ${setting}:\n${output}`);
  }

  return { store, model, start, crash };
}
