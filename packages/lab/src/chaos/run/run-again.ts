import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../random/random.ts";
import type { AskedRerun } from "../evidence/evidence.ts";
import type { Reading } from "../evidence/reading.ts";
import { type Accepted, type ApiClient, ApiError } from "./api-client.ts";

/** What running a plan again needs. */
export interface RunAgainOptions {
  client: Pick<ApiClient, "read" | "rerun">;
  ids: Accepted;
  /** The last look at the plan that is over. */
  reading: Reading;
  random: Random;
  /** Hears of what is asked, before it is. */
  reruns: AskedRerun[];
  /** Gives up. */
  signal: AbortSignal;
}

const LOOK_AGAIN_MS = 300;

/**
 * Asks for a plan that ended PARTIAL or FAILED to be run again, half of the time from one of its lists, until there is a new version.
 * False when there is nothing to run again, or when only an operator could say how to go on.
 */
export async function runAgain(options: RunAgainOptions): Promise<boolean> {
  const { client, ids, reading, random, reruns, signal } = options;
  const { requestId } = ids;
  const { plan, planId, status } = reading;
  if (plan === null || (status !== "PARTIAL" && status !== "FAILED") || plan.status === "EXPIRED")
    return false;
  if (plan.steps.some((step) => step.status === "IN_DOUBT")) return false;
  const lists = unfinishedLists(plan.steps);
  const from = lists.length > 0 && random.chance(0.5) ? random.pick(lists) : null;
  while (!signal.aborted) {
    const asked: AskedRerun = { requestId, planId, from, storedAs: null };
    reruns.push(asked);
    try {
      const storedAs = await client.rerun(requestId, from);
      if (storedAs !== undefined) {
        asked.storedAs = storedAs;
        return true;
      }
    } catch (error) {
      // An earlier question was heard after all, and its version is not over.
      if (!(error instanceof ApiError) || error.facts.code !== "STATE_CONFLICT") throw error;
    }
    // Without an answer the question may have been heard, or may yet be.
    await delay(LOOK_AGAIN_MS);
    const after = await client.read(requestId);
    if (after !== undefined && after.planId !== planId) return true;
  }
  return false;
}

/** Steps of which an item is there that did not complete. */
function unfinishedLists(steps: NonNullable<Reading["plan"]>["steps"]): string[] {
  const open = steps.filter(({ key, status }) => key.endsWith("]") && status !== "COMPLETED");
  return [...new Set(open.map(({ key }) => key.slice(0, key.indexOf("["))))];
}
