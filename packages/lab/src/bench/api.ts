/**
 * Measures the API under load, with a real MongoDB, a real Redis and the built service as a separate process.
 * The clients run in this process. No planner or executor runs, so only the API is measured.
 *
 * npm run bench -- api [--clients 1000] [--plans 200] [--seconds 10] [--subscribers 1000] [--events 50]
 * [--submissions 1000] [--attackers 30] [--only statusPolls] [--json] It prints which targets are met. The
 * exit code is 1 when a subscriber missed an event. Slow figures do not fail the run: they depend on the
 * machine.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createStore, type PlanClaim, type Store } from "@planwright/store";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { writeCalled } from "../../../../services/api/test/workers.ts";
import {
  developerCommand,
  print,
  printJson,
  say,
  wholeNumberOption,
  wordsOption,
} from "../command/developer-command.ts";
import { FROM_SOURCE, startServers, startService } from "../servers/servers.ts";
import { type Attacked, measureHeavy } from "./api-heavy.ts";
import { BLOG_TOOLS, blogPlan, measureOverload, measurePolling, POLLS, storedPlan } from "./api-polls.ts";
import { exitCodeOf, type Followed, heavyTargets, targetsOf } from "./api-targets.ts";
import { createBenchClient, operation } from "./bench-client.ts";
import { type Latencies, latenciesOf, perSecond } from "./figures.ts";

/** The subscription of every client, with enough fields to draw the plan. */
const FOLLOW = `subscription ($id: ID!) {
  requestUpdated(requestId: $id) { status plan { status counts { completed } steps { id status } } }
}`;

/** A subscriber of a request; it receives each state as text. */
interface Subscriber {
  ended: Promise<void>;
  leave(): void;
}

/** Opens a subscription over a separate connection. */
type Subscribe = (url: string, requestId: string, onState: (text: string) => void) => Subscriber;

/** Over server-sent events. */
const subscribeToEvents: Subscribe = (url, requestId, onState) => {
  const body = operation(FOLLOW, { id: requestId });
  const agent = new Agent();
  const call = request(`${url}/stream`, {
    method: "POST",
    agent,
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  const ended = new Promise<void>((resolve, reject) => {
    call.once("error", reject);
    call.once("response", (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) if (event.startsWith("event: next")) onState(event);
      });
      response.once("end", resolve);
    });
  });
  call.end(body);
  return { ended, leave: () => void call.destroy() };
};

/** Over WebSocket. */
const subscribeToSocket: Subscribe = (url, requestId, onState) => {
  const client = createClient({
    url: url.replace(/^http/, "ws"),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const ended = new Promise<void>((resolve, reject) => {
    client.subscribe(
      { query: FOLLOW, variables: { id: requestId } },
      { next: (result) => onState(JSON.stringify(result)), error: reject, complete: resolve },
    );
  });
  return { ended, leave: () => void client.dispose() };
};

/** Concurrent mutations in the second measurement of each kind. */
const AT_ONCE = 32;

const MEASUREMENTS = [
  "statusPolls",
  "barePolls",
  "stepPolls",
  "statusPollsOncePerSecond",
  "serverSentEvents",
  "webSockets",
  "createPlanAlone",
  `createPlan${AT_ONCE}AtOnce`,
  "submitPlanAlone",
  `submitPlan${AT_ONCE}AtOnce`,
  "heavy",
  "overload",
] as const;
/** The name of a measurement in `--only` and in the results. */
type Measurement = (typeof MEASUREMENTS)[number];

/** Options of the command line. */
interface Settings {
  clients: number;
  plans: number;
  subscribers: number;
  events: number;
  seconds: number;
  submissions: number;
  attackers: number;
  /** All when empty. */
  only: Measurement[];
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
function readSettings(args: readonly string[]): Settings {
  return developerCommand("bench -- api", "Measures polls, subscriptions and submissions against a real API.")
    .option("--clients <number>", "clients that poll", wholeNumberOption(1, 10_000), 1_000)
    .option("--plans <number>", "plans that are polled", wholeNumberOption(1, 10_000), 200)
    .option("--subscribers <number>", "clients that follow one request", wholeNumberOption(1, 10_000), 1_000)
    .option("--events <number>", "changes that they receive", wholeNumberOption(1, 1_000), 50)
    .option("--seconds <number>", "of polling", wholeNumberOption(1, 600), 10)
    .option("--submissions <number>", "plans that are submitted", wholeNumberOption(1, 100_000), 1_000)
    .option("--attackers <number>", "lists with large outputs at once", wholeNumberOption(1, 1_000), 30)
    .option("--only <measurement...>", "measure nothing else", wordsOption(MEASUREMENTS), [])
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}

/** Sends `count` mutations, each once, `atOnce` of them concurrently. */
async function measureMutations(
  url: string,
  bodyOf: (index: number) => string,
  { count, atOnce }: { count: number; atOnce: number },
): Promise<Latencies & { acceptedPerSecond: number }> {
  const client = createBenchClient(url, atOnce);
  const durations: number[] = [];
  let next = 0;
  const beganAt = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = next++; index < count; index = next++) {
        const sentAt = performance.now();
        await client.send(bodyOf(index));
        durations.push(performance.now() - sentAt);
      }
    }),
  );
  const tookMs = performance.now() - beganAt;
  client.close();
  return { acceptedPerSecond: perSecond(count, tookMs), ...latenciesOf(durations) };
}

const settings = readSettings(process.argv.slice(2));
const { clients, subscribers, submissions } = settings;
const CREATE = "mutation ($query: String!) { createPlan(query: $query) { requestId planId status } }";
const SUBMIT = "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId status } }";
/** Steps of the plans that are polled. */
const POLLED_STEPS = 5;
/** Interval between two events of the request that is followed. */
const EVENT_EVERY_MS = 200;

const servers = await startServers();
const mongodbUrl = servers.mongodbUrl("bench");
const store: Store = await createStore({ url: mongodbUrl });
await store.publishTools(
  "blog",
  BLOG_TOOLS.map((descriptor) => ({ descriptor, digest: descriptor.name })),
);
const api = await startService("api", "build", { MONGODB_URL: mongodbUrl, REDIS_URL: servers.redisUrl });

const results: Record<string, object> = {};
const followed: Record<string, Followed> = {};
/** Runs the measurement unless `--only` names others. */
async function measureIfWanted(name: Measurement, measuring: () => Promise<object>): Promise<void> {
  if (settings.only.length > 0 && !settings.only.includes(name)) return;
  results[name] = await measuring();
  say(`${name} ${JSON.stringify(results[name])}`);
}

const requestIds: string[] = [];
for (let index = 0; index < settings.plans; index += 1) {
  requestIds.push((await storedPlan(store, POLLED_STEPS)).requestId);
}
const polling = { url: api.url, requestIds, clients, forMs: settings.seconds * 1_000 };
await measurePolling({ ...polling, query: POLLS.status, forMs: 2_000, everyMs: 0 }); // warms up
await measureIfWanted("statusPolls", () => measurePolling({ ...polling, query: POLLS.status, everyMs: 0 }));
await measureIfWanted("barePolls", measureBareApi);
await measureIfWanted("stepPolls", () => measurePolling({ ...polling, query: POLLS.steps, everyMs: 0 }));
await measureIfWanted("statusPollsOncePerSecond", () =>
  measurePolling({ ...polling, query: POLLS.status, everyMs: 1_000 }),
);

/** Polls of the smallest API with the same libraries: what they take themselves on this machine. */
async function measureBareApi() {
  const file = fileURLToPath(new URL("contenders/bare-api.ts", import.meta.url));
  const bare = spawn(process.execPath, ["--max-semi-space-size=32", ...FROM_SOURCE, file], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [url] = await once(createInterface({ input: bare.stdout }), "line");
    const bareApi = { ...polling, url: String(url), query: POLLS.status, everyMs: 0 };
    await measurePolling({ ...bareApi, forMs: 2_000 }); // warms up
    return await measurePolling(bareApi);
  } finally {
    bare.kill();
  }
}

async function follow(subscribe: Subscribe, events: number): Promise<Followed> {
  const { requestId, claim } = await storedPlan(store, events);
  const everyMs = EVENT_EVERY_MS;
  return measureFollowing({ url: api.url, store, claim, requestId, subscribers, everyMs, subscribe });
}
await follow(subscribeToEvents, 5); // warms up
for (const [name, subscribe] of [
  ["serverSentEvents", subscribeToEvents],
  ["webSockets", subscribeToSocket],
] as const) {
  await measureIfWanted(name, async () => (followed[name] = await follow(subscribe, settings.events)));
}

const createBody = (index: number) =>
  operation(CREATE, { query: `Create author Alice with email alice${index}@test.com` });
const submitBody = (index: number) => operation(SUBMIT, { plan: blogPlan(index) });
await measureMutations(api.url, submitBody, { count: 200, atOnce: 8 }); // warms up
for (const [name, body] of [
  ["createPlan", createBody],
  ["submitPlan", submitBody],
] as const) {
  await measureIfWanted(`${name}Alone`, () =>
    measureMutations(api.url, body, { count: submissions, atOnce: 1 }),
  );
  await measureIfWanted(`${name}${AT_ONCE}AtOnce`, () =>
    measureMutations(api.url, body, { count: submissions, atOnce: AT_ONCE }),
  );
}

let attacked: Attacked | undefined;
await measureIfWanted("heavy", async () => {
  const { attackers, seconds } = settings;
  return (attacked = await measureHeavy({ store, api, attackers, forMs: seconds * 1_000 }));
});

// Last, so that its memory is not counted in the peak of the attack.
await measureIfWanted("overload", () => measureOverload(polling));

const targets = [...targetsOf(followed), ...(attacked ? heavyTargets(attacked) : [])];
if (settings.json) printJson({ ...results, targets });
else {
  console.table(results);
  for (const { measurement, target, isMet } of targets) {
    print(`${isMet ? "met    " : "not met"}  ${measurement}: ${target}`);
  }
}
process.exitCode = exitCodeOf(targets);
await api.stop();
await store.close();
await servers.stop();

/** Many subscribers of one request. */
interface Following {
  url: string;
  store: Store;
  /** A plan of the steps s0, s1, ..., claimed by the benchmark. */
  claim: PlanClaim;
  requestId: string;
  subscribers: number;
  /** Interval between two events. */
  everyMs: number;
  subscribe: Subscribe;
}

/**
 * Completes one step after the other and measures when each subscriber receives the change: from just before
 * the write until the text is in the client's process.
 */
async function measureFollowing(following: Following): Promise<Followed> {
  const { url, store, claim, requestId, subscribers, everyMs, subscribe } = following;
  const steps = claim.plan.plan.steps.map(({ id }): string => id);
  const writtenAt: number[] = [];
  const durations: number[] = [];
  /** Number of events that each subscriber has received. */
  const received = Array.from({ length: subscribers }, () => 0);
  let merged = 0;
  const open: Promise<void>[] = [];
  const all = received.map((_, index) => {
    let isOpen = (): void => undefined;
    open.push(new Promise((resolve) => (isOpen = resolve)));
    return subscribe(url, requestId, (text) => {
      isOpen();
      const completed = Number(/"completed":(\d+)/.exec(text)?.[1] ?? 0);
      const known = received[index] ?? 0;
      if (completed <= known) return;
      received[index] = completed;
      merged += completed - known - 1;
      const nowMs = performance.now();
      for (const writtenMs of writtenAt.slice(known, completed)) durations.push(nowMs - writtenMs);
    });
  });
  const ends = Promise.all(all.map(({ ended }) => ended));
  await Promise.race([Promise.all(open), ends]);
  for (const stepId of steps) {
    writtenAt.push(performance.now());
    const record = { key: stepId, stepId, status: "COMPLETED" as const, attempts: 1, output: null };
    await writeCalled(store, claim, [record]);
    await delay(everyMs);
  }
  await store.finishPlan(claim, { type: "finish", status: "COMPLETED", outputs: {} });
  const timeout = new AbortController();
  await Promise.race([ends, delay(30_000, undefined, { signal: timeout.signal }).catch(() => undefined)]);
  timeout.abort();
  for (const subscriber of all) subscriber.leave();
  const expected = subscribers * steps.length;
  return {
    events: steps.length,
    subscribers,
    missed: expected - durations.length,
    merged,
    ...latenciesOf(durations),
  };
}
