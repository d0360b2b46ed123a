import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../random/random.ts";
import type { AskedRerun } from "../evidence/evidence.ts";
import type { Reading } from "../evidence/reading.ts";
import type { Accepted, ApiClient } from "./api-client.ts";

/** Options of {@link runAgain}. */
export interface RunAgainOptions {
  client: Pick<ApiClient, "rerun">;
  ids: Accepted;
  /** The last reading of the ended plan. */
  reading: Reading;
  random: Random;
  /** Receives the rerun before it is sent. */
  reruns: AskedRerun[];
  /** Stops the attempts. */
  signal: AbortSignal;
}

const ASK_AGAIN_MS = 300;

/**
 * Asks for a plan that ended PARTIAL or FAILED to be run again, half of the time from one of its lists, until
 * the API answers with the new version. False when there is nothing to run again, or when an operator has to
 * decide first.
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
  const asked: AskedRerun = { requestId, planId, from, storedAs: null };
  const acceptRepeat = new Set<string>();
  while (!signal.aborted) {
    // One key for all tries: one that was received without an answer, or arrives late, makes no other version.
    const key = `chaos-rerun-${planId}-${acceptRepeat.size}`;
    if (!reruns.includes(asked)) reruns.push(asked);
    const result = await client.rerun(requestId, { from, acceptRepeat: [...acceptRepeat], key });
    if (result === undefined) await delay(ASK_AGAIN_MS);
    else if ("planId" in result) {
      asked.storedAs = result.planId;
      return true;
    } else {
      // An operator finds out that the calls may be made again, or gives up.
      reruns.splice(reruns.indexOf(asked), 1);
      if (random.chance(0.3)) return false;
      for (const unit of result.mayHaveActed) acceptRepeat.add(unit.replace(/\[\d+\]$/, ""));
    }
  }
  return false;
}

/** Lists with an item that did not complete. */
function unfinishedLists(steps: NonNullable<Reading["plan"]>["steps"]): string[] {
  const open = steps.filter(({ key, status }) => key.endsWith("]") && status !== "COMPLETED");
  return [...new Set(open.map(({ key }) => key.slice(0, key.indexOf("["))))];
}
