import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { createStore, type Store } from "@planwright/store";
import { type ModelScript, type ModelServer, startModelServer, testServers } from "@planwright/testing";
import { spawnPlanner } from "./planner-process.ts";
import { TOOLS } from "./tools.ts";

/** For machines with much else to do. */
const TIMEOUT_MS = 60_000;
/** Long enough for a process that is frozen for a second and a half to be heard in time. */
const DEAD_AFTER_MS = 2_500;
/** Outlasts that: a planner that is frozen for so long was declared dead. */
export const PAUSE_MS = 4_000;
/** A model that takes so long to begin is still thinking when what is held is looked at. */
export const SLOW_MODEL_MS = 1_500;

/** Planners that are made to crash, over a database with the tools of these tests and a scripted model. */
export interface CrashBench {
  store: Store;
  model: ModelServer;
  /** Starts a planner; it is gone when the test is over. */
  start(env?: Record<string, string>): ChildProcess;
  /**
   * Starts a planner and waits until it is at its failpoint, and gone if it is to be killed there. Rejects
   * with what it printed.
   */
  crash(setting: string, env?: Record<string, string>): Promise<void>;
}

/**
 * @param script - of the model
 * @param whenFinished - called with what is to be ended with the test
 */
export async function openCrashBench(
  script: ModelScript,
  whenFinished: (end: () => Promise<void> | void) => void,
): Promise<CrashBench> {
  const servers = testServers();
  // Many tests make their indexes at once, on a machine with much else to do.
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
      DEAD_AFTER_MS: String(DEAD_AFTER_MS),
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
    const victim = start({ FAILPOINT: setting, ...env });
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
