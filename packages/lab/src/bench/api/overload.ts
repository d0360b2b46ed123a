/**
 * More clients than the process can serve in time. Each client closes its connection when no answer came
 * within its timeout, and soon asks again. A process that keeps working on answers that no client waits for
 * serves no client in time.
 */
import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { operation } from "../../client/bench-client.ts";
import { perSecond } from "../../measuring/latencies.ts";
import { measurePolling, POLLS } from "./polling.ts";
import { send } from "./send.ts";

/** How long a client waits for an answer, in milliseconds. */
const CLIENT_TIMEOUT_MS = 5_000;
/** Few enough that no client waits long. */
const CLIENTS_WITHIN_CAPACITY = 32;
/** Number of clients, as a multiple of those that can be served within their timeout. */
const EXCESS = 2;
/** A client without an answer asks again after this time, in milliseconds, unless a refusal names another. */
const RETRY_MS = 250;

/** Options of {@link measureOverload}. */
export interface Overload {
  url: string;
  requestIds: readonly string[];
  forMs: number;
}

/** Rates of the polls, by how they ended. */
export interface Overloaded {
  /** Answered polls (with steps) per second when few clients poll. */
  capacityPerSecond: number;
  clients: number;
  /** Polls answered in time, per second of the overload. */
  answeredPerSecond: number;
  /** Polls that were refused, and polls that timed out, per second. */
  refusedPerSecond: number;
  timedOutPerSecond: number;
}

/** Measures the capacity, then overloads the process. */
export async function measureOverload({ url, requestIds, forMs }: Overload): Promise<Overloaded> {
  const { pollsPerSecond: capacityPerSecond } = await measurePolling({
    url,
    requestIds,
    query: POLLS.steps,
    clients: CLIENTS_WITHIN_CAPACITY,
    forMs,
    everyMs: 0,
  });
  const clients = Math.ceil((capacityPerSecond * EXCESS * CLIENT_TIMEOUT_MS) / 1_000);
  const bodies = requestIds.map((id) => operation(POLLS.steps, { id }));
  const ends = { answered: 0, refused: 0, timedOut: 0 };
  const beganAt = performance.now();
  // The clients reach their first timeout during this period, so it is not counted.
  const countFrom = beganAt + CLIENT_TIMEOUT_MS;
  const endAt = countFrom + Math.max(forMs, 2 * CLIENT_TIMEOUT_MS);
  async function pollInTurn(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (performance.now() < endAt) {
      const body = bodies[index % bodies.length] ?? "";
      const { status, retryAfterMs } = await send(url, body, { agent, timeoutMs: CLIENT_TIMEOUT_MS });
      const end = endOf(status);
      const now = performance.now();
      if (now >= countFrom && now < endAt) ends[end] += 1;
      if (end !== "answered") await delay(retryAfterMs ?? RETRY_MS);
    }
    agent.destroy();
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => pollInTurn(index)));
  const tookMs = endAt - countFrom;
  return {
    capacityPerSecond,
    clients,
    answeredPerSecond: perSecond(ends.answered, tookMs),
    refusedPerSecond: perSecond(ends.refused, tookMs),
    timedOutPerSecond: perSecond(ends.timedOut, tookMs),
  };
}

/** How a poll ended. A connection that the server did not accept or closed counts as refused. */
function endOf(status: string): "answered" | "refused" | "timedOut" {
  if (status === "200") return "answered";
  return status === "late" ? "timedOut" : "refused";
}
