import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError } from "../errors.ts";
import type { CommandContext } from "./command-context.ts";

/** Times that an operation is sent at most. */
const MAX_TIMES = 5;
/** Wait where the API does not say how long, in milliseconds. */
const WAIT_MS = 1_000;

/** Sends an operation again while the API says that it has too much to do, after the time that it names. */
export async function askAgain<T>({ signal }: CommandContext, ask: () => Promise<T>): Promise<T> {
  for (let times = 1; ; times += 1) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = error instanceof ApiRefusedError && error.facts.code === "OVERLOADED";
      if (!isPassing || times === MAX_TIMES) throw error;
      const retryAfterMs = error.fact("retryAfterMs");
      const waitMs = typeof retryAfterMs === "number" ? Math.min(retryAfterMs, 30_000) : WAIT_MS;
      await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
