import { setTimeout as delay } from "node:timers/promises";
import { createBenchClient, operation, UnexpectedAnswerError } from "../../client/bench-client.ts";
import { type Latencies, latenciesOf, perSecond } from "../../measuring/latencies.ts";

/** The query of clients that need only the status, and of clients that draw the plan. */
export const POLLS = {
  status: "query ($id: ID!) { request(requestId: $id) { status } }",
  steps:
    "query ($id: ID!) { request(requestId: $id) { status plan { status waitReason steps { id status } } } }",
} as const;

/** Options of {@link measurePolling}. */
export interface Polling {
  url: string;
  query: string;
  requestIds: readonly string[];
  clients: number;
  forMs: number;
  /** Time from the start of one poll of a client to the start of its next; 0: the next starts at once. */
  everyMs: number;
}

/** Rates of the polls. Latencies are those of answered polls. */
export type Polled = Latencies & {
  pollsPerSecond: number;
  /** Polls answered with an error. */
  failed: number;
};

/** Lets all clients poll for `forMs`, each client one request. */
export async function measurePolling(polling: Polling): Promise<Polled> {
  const { url, query, requestIds, clients, forMs, everyMs } = polling;
  const client = createBenchClient(url, clients);
  const bodies = requestIds.map((id) => operation(query, { id }));
  const durations: number[] = [];
  let failed = 0;
  const beganAt = performance.now();
  const endAt = beganAt + forMs;
  async function poll(index: number): Promise<void> {
    const body = bodies[index % bodies.length] ?? "";
    // The clients start spread over the interval, like independent clients.
    let dueAt = beganAt + (index / clients) * everyMs;
    for (;;) {
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await delay(waitMs);
      const sentAt = performance.now();
      if (sentAt >= endAt) return;
      try {
        await client.send(body);
        durations.push(performance.now() - sentAt);
      } catch (error) {
        // Errors of an overloaded machine are counted, not thrown.
        if (!(error instanceof UnexpectedAnswerError)) throw error;
        failed += 1;
      }
      dueAt = Math.max(dueAt + everyMs, sentAt);
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => poll(index)));
  const tookMs = performance.now() - beganAt;
  client.close();
  return { pollsPerSecond: perSecond(durations.length, tookMs), failed, ...latenciesOf(durations) };
}
