/**
 * More clients than the process can serve in time: each closes its connection when no answer came within its
 * timeout, and soon asks again. A process that works on answers that no client waits for any more serves none of them.
 */
import { Agent, request } from "node:http";
import { operation } from "../../client/bench-client.ts";
import { perSecond } from "../../measuring/latencies.ts";
import { measurePolling, POLLS } from "./polling.ts";

/** How long a client waits for an answer, in milliseconds. */
const CLIENT_TIMEOUT_MS = 5_000;
/** Few enough that none of them waits long. */
const CLIENTS_WITHIN_CAPACITY = 32;
/** Clients over those that can be served within their timeout. */
const EXCESS = 2;
/** A client without an answer asks again after this time, in milliseconds; a refusal may name another. */
const RETRY_MS = 250;

/** Options of {@link measureOverload}. */
export interface Overload {
  url: string;
  requestIds: readonly string[];
  forMs: number;
}

/** The result. */
export interface Overloaded {
  /** Polls with steps that few clients have answered in a second. */
  capacityPerSecond: number;
  clients: number;
  /** Polls that were answered in time, in a second of the overload. */
  answeredPerSecond: number;
  /** Polls that were refused, and those that timed out, in a second. */
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
  // The first round of timeouts begins the overload: it is not counted.
  const countFrom = beganAt + CLIENT_TIMEOUT_MS;
  const endAt = countFrom + Math.max(forMs, 2 * CLIENT_TIMEOUT_MS);
  async function pollInTurn(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (performance.now() < endAt) {
      const { end, retryMs } = await poll(url, bodies[index % bodies.length] ?? "", agent);
      const now = performance.now();
      if (now >= countFrom && now < endAt) ends[end] += 1;
      if (retryMs > 0) await new Promise((resolve) => setTimeout(resolve, retryMs));
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

/** How a poll ended, and when its client may ask again. */
interface PollEnd {
  end: "answered" | "refused" | "timedOut";
  retryMs: number;
}

/** Asks once; the connection is closed when no answer came in time. */
function poll(url: string, body: string, agent: Agent): Promise<PollEnd> {
  return new Promise((resolve) => {
    const call = request(url, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    const finish = (found: PollEnd): void => {
      clearTimeout(timer);
      resolve(found);
    };
    const timer = setTimeout(() => {
      finish({ end: "timedOut", retryMs: RETRY_MS });
      call.destroy();
    }, CLIENT_TIMEOUT_MS);
    // A connection that the server did not accept or closed: a refusal as well.
    call.once("error", () => finish({ end: "refused", retryMs: RETRY_MS }));
    call.once("response", (response) => {
      const seconds = Number(response.headers["retry-after"] ?? RETRY_MS / 1_000);
      response.resume();
      response.once("error", () => finish({ end: "refused", retryMs: RETRY_MS }));
      response.once("end", () =>
        finish(
          response.statusCode === 200
            ? { end: "answered", retryMs: 0 }
            : { end: "refused", retryMs: seconds * 1_000 },
        ),
      );
    });
    call.end(body);
  });
}
