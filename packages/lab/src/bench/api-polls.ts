import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Plan, parsePlan, type ToolDescriptor } from "@planwright/plan";
import type { PlanClaim, Store } from "@planwright/store";
import { createBenchClient, operation, UnexpectedAnswerError } from "./bench-client.ts";
import { type Latencies, latenciesOf, perSecond } from "./figures.ts";

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

/** Options of {@link send}. */
interface SendOptions {
  agent: Agent;
  headers?: Record<string, string>;
  /** Closes the connection when no answer came within this time, in milliseconds. Default: never. */
  timeoutMs?: number;
}

/** What the server answered. */
interface Sent {
  /** HTTP status; "none" when the connection broke, "late" after the timeout. */
  status: string;
  /** Size of the answer. */
  bytes: number;
  /** `retry-after` of the answer, in milliseconds; undefined without that header. */
  retryAfterMs: number | undefined;
}

/** Sends an operation. The bytes of its answer are counted and dropped. */
export function send(url: string, body: string, options: SendOptions): Promise<Sent> {
  const { agent, headers = {}, timeoutMs } = options;
  return new Promise((resolve) => {
    let bytes = 0;
    let retryAfterMs: number | undefined;
    const end = (status: string): void => {
      clearTimeout(timer);
      resolve({ status, bytes, retryAfterMs });
    };
    const call = request(url, {
      method: "POST",
      agent,
      headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    });
    const late = (): void => {
      end("late");
      call.destroy();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    call.once("error", () => end("none"));
    call.once("response", (response) => {
      const seconds = response.headers["retry-after"];
      retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1_000;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.once("error", () => end("none"));
      response.once("end", () => end(String(response.statusCode)));
    });
    call.end(body);
  });
}

/*
 * More clients than the process can serve in time. Each client closes its connection when no answer came
 * within its timeout, and soon asks again. A process that keeps working on answers that no client waits for
 * serves no client in time.
 */

/** How long a client waits for an answer, in milliseconds. */
const CLIENT_TIMEOUT_MS = 5_000;
/** Few enough that no client waits long. */
const CLIENTS_WITHIN_CAPACITY = 32;
/** Number of clients, as a multiple of those that can be served within their timeout. */
const EXCESS = 2;
/** A client without an answer asks again after this time, in milliseconds, unless a refusal names another. */
const RETRY_MS = 250;

/** Options of {@link measureOverload}. */
interface Overload {
  url: string;
  requestIds: readonly string[];
  forMs: number;
}

/** Rates of the polls, by how they ended. */
interface Overloaded {
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

/** Tenant of all requests without a credential. */
const TENANT = "default";

const text = { type: "string" } as const;

/** The two tools of the plans that are submitted. */
export const BLOG_TOOLS: ToolDescriptor[] = [
  tool("createAuthor", { name: text, email: text }),
  tool("createBlog", { title: text, content: text, authorId: text }),
];

function tool(name: string, properties: Record<string, { type: "string" }>): ToolDescriptor {
  const inputSchema = { type: "object", properties, required: Object.keys(properties) };
  return { name, server: "blog", title: name, description: `Does ${name}`, inputSchema };
}

/** A plan of two steps as a client submits it; each index gives a different plan. */
export const blogPlan = (index: number) => ({
  steps: [
    {
      id: "createAuthor",
      tool: "createAuthor",
      arguments: { name: "Alice", email: `alice${index}@test.com` },
    },
    {
      id: "createBlog",
      tool: "createBlog",
      arguments: { title: "Hello", content: "world", authorId: "<<createAuthor._id>>" },
    },
  ],
});

/** Stores a plan of this many independent steps and claims it for the caller. */
export async function storedPlan(
  store: Store,
  steps: number,
  tenant = TENANT,
): Promise<{ requestId: string; claim: PlanClaim }> {
  const { request, plan } = await store.submitPlan({
    tenant,
    query: null,
    plan: await planOf(store, steps),
    raw: "",
    diagnostics: [],
    autoExecute: false,
  });
  await store.queuePlan(tenant, plan._id, request._id);
  for (;;) {
    // The plan becomes due by MongoDB's clock, which may be slightly late.
    const claim = await store.claimPlan(plan._id, "bench");
    if (claim) return { requestId: request._id, claim };
  }
}

async function planOf(store: Store, steps: number): Promise<Plan> {
  const document = {
    steps: Array.from({ length: steps }, (_, index) => ({
      id: `s${index}`,
      tool: "createAuthor",
      arguments: { name: "Alice", email: `alice${index}@test.com` },
    })),
  };
  const parsed = parsePlan(document, { tools: await store.toolCatalogue() });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}
