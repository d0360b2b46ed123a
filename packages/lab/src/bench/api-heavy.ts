/**
 * An attack with a read key: many concurrent lists of requests with all data of their plans, far more than
 * the process has memory for. Another tenant polls the status of one request meanwhile.
 */
import { readFile } from "node:fs/promises";
import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "@planwright/store";
import { writeCalled } from "../../../../services/api/test/workers.ts";
import type { ServiceProcess } from "../servers/servers.ts";
import { POLLS, send, storedPlan } from "./api-polls.ts";
import { operation } from "./bench-client.ts";
import { type Latencies, latenciesOf } from "./figures.ts";

/** Size of the attacker's requests. */
const REQUESTS = 40;
const STEPS = 8;
const MIB = 1_048_576;
/**
 * Sizes of the outputs of a plan's steps, in turn: some are stored separately, some in the document of their
 * step.
 */
const OUTPUT_BYTES = [2 * MIB, 60_000, 30_000, 30_000] as const;

/**
 * Lists of requests with their outputs, in the form of each kind of client, and with their documents only.
 */
const ATTACKS = [
  "{ requests(first: 100) { nodes { plan { steps { id output } } } } }",
  "{ getExecutions(first: 100) { results outputs } }",
  "{ requests(first: 100) { nodes { plan { outputs executionResults } } } }",
  "{ requests(first: 100) { nodes { plan { a: document b: raw c: plan steps { arguments resolvedArguments } } } } }",
].map((query) => operation(query, {}));

/** Concurrent polls of the other tenant's client. */
const POLLERS = 4;
const POLL_EVERY_MS = 20;

/** Options of {@link measureHeavy}. */
export interface HeavyAttack {
  store: Store;
  api: ServiceProcess;
  /** Concurrent list queries. */
  attackers: number;
  forMs: number;
}

/** The answers to the attacker. Latencies are those of the other tenant's polls. */
export interface Attacked {
  alone: Latencies;
  attacked: Latencies;
  /** Polls that were not answered with 200. */
  pollsFailed: number;
  /** Answers to the attacker by HTTP status; "none" when the connection broke. */
  answers: Record<string, number>;
  largestAnswerBytes: number;
  rssPeakMib: number;
  /** True when the process did not survive. */
  died: boolean;
}

/** Polls alone, then under attack. */
export async function measureHeavy({ store, api, attackers, forMs }: HeavyAttack): Promise<Attacked> {
  const { requestId } = await storedPlan(store, 1);
  const authorization = await prepare(store);
  const poll = operation(POLLS.status, { id: requestId });
  await polled(api.url, poll, forMs / 4); // warms up
  const alone = await polled(api.url, poll, forMs);
  const answers: Record<string, number> = {};
  let largestAnswerBytes = 0;
  const endAt = performance.now() + forMs;
  async function attack(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = index; performance.now() < endAt; count += 1) {
      const body = ATTACKS[count % ATTACKS.length] ?? "";
      const { status, bytes } = await send(api.url, body, { agent, headers: { authorization } });
      answers[status] = (answers[status] ?? 0) + 1;
      largestAnswerBytes = Math.max(largestAnswerBytes, bytes);
      // A refused connection returns at once.
      if (status === "none") await delay(100);
    }
    agent.destroy();
  }
  const [attacked] = await Promise.all([
    polled(api.url, poll, forMs),
    ...Array.from({ length: attackers }, (_, index) => attack(index)),
  ]);
  return {
    alone,
    attacked,
    pollsFailed: alone.failed + attacked.failed,
    answers,
    largestAnswerBytes,
    rssPeakMib: await rssPeakMib(api.pid),
    died: api.hasEnded(),
  };
}

/**
 * Stores the data that the attacker reads. Returns the attacker's credential, which has only the scope
 * `read`.
 */
async function prepare(store: Store): Promise<string> {
  const tenant = "attacker";
  const { secret } = await store.createApiKey({ tenant, name: "reads", scopes: ["read"] });
  for (let made = 0; made < REQUESTS; made += 1) {
    const { claim } = await storedPlan(store, STEPS, tenant);
    const outputs = Object.fromEntries(
      claim.plan.plan.steps.map(({ id }, index) => [
        id,
        "x".repeat(OUTPUT_BYTES[index % OUTPUT_BYTES.length] ?? 0),
      ]),
    );
    for (const [key, output] of Object.entries(outputs)) {
      await writeCalled(store, claim, [{ key, stepId: key, status: "COMPLETED", attempts: 1, output }]);
    }
    await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs });
  }
  return `Bearer ${secret}`;
}

/** Polls for `forMs`. */
async function polled(url: string, body: string, forMs: number): Promise<Latencies & { failed: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: POLLERS });
  const durations: number[] = [];
  let failed = 0;
  const endAt = performance.now() + forMs;
  async function pollInTurn(): Promise<void> {
    while (performance.now() < endAt) {
      const sentAt = performance.now();
      const { status } = await send(url, body, { agent });
      if (status === "200") durations.push(performance.now() - sentAt);
      else failed += 1;
      await delay(Math.max(0, sentAt + POLL_EVERY_MS - performance.now()));
    }
  }
  await Promise.all(Array.from({ length: POLLERS }, pollInTurn));
  agent.destroy();
  return { ...latenciesOf(durations), failed };
}

/** Peak memory of the process, as Linux counts it; 0 on other systems and after the process has ended. */
async function rssPeakMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024);
}
