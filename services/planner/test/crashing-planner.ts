import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { createStore, type Store } from "@planwright/store";
import { type ModelScript, type ModelServer, startModelServer, testServers } from "@planwright/testing";
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
  /** Starts a planner; it is ended with the test. */
  start(env?: Record<string, string>): ChildProcess;
  /**
   * Starts a planner and waits until it has reached its failpoint, and has exited if the failpoint kills it.
   * Rejects with the output of the planner.
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
  // Many tests create their indexes at the same time, on a busy machine.
  const store = await createStore({ url: servers.mongodbUrl, timeoutMs: 60_000 });
  whenFinished(() => store.close());
  const tools = TOOLS.map((descriptor) => ({ descriptor, digest: "0".repeat(64) }));
  await store.publishTools("notes", tools);
  const model = await startModelServer({ script });
  whenFinished(() => model.close());

  function start(env: Record<string, string> = {}): ChildProcess {
    const child = spawnPlanner({
      MONGODB_URL: servers.mongodbUrl,
      REDIS_URL: servers.redisUrl,
      QUEUE_PREFIX: servers.redisPrefix,
      DEAD_AFTER_MS: String(TAKES_OVER_DEAD_AFTER_MS),
      SWEEP_EVERY_MS: "100",
      MODEL: "openai:test",
      OPENAI_BASE_URL: model.openAiUrl,
      ...env,
    });
    whenFinished(() => void child.kill("SIGKILL"));
    child.stdout?.resume();
    child.stderr?.resume();
    return child;
  }

  async function crash(setting: string, env: Record<string, string> = {}): Promise<void> {
    const victim = start({ FAILPOINT: setting, DEAD_AFTER_MS: String(DEAD_AFTER_MS), ...env });
    const ended = once(victim, "close");
    let output = "";
    for (const stream of [victim.stdout, victim.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(`failpoint ${setting}`)) victim.emit("failpoint");
      });
    }
    const reached = setting.endsWith("kill") ? ended : Promise.race([once(victim, "failpoint"), ended]);
    const abort = new AbortController();
    const isLate = delay(TIMEOUT_MS, true, { signal: abort.signal }).catch(() => false);
    await Promise.race([reached, isLate]);
    abort.abort();
    if (!output.includes(`failpoint ${setting}`)) {
      throw new TypeError(`The planner did not come to ${setting}:\n${output}`);
    }
  }

  return { store, model, start, crash };
}
