/**
 * Measures the API under load, with a real MongoDB, a real Redis and the built service as a separate process.
 * The clients run in this process. No planner or executor runs, so only the API is measured.
 *
 * npm run bench -- api [--clients 1000] [--plans 200] [--seconds 10] [--subscribers 1000] [--events 50]
 * [--submissions 1000] [--attackers 30] [--only statusPolls] [--json] It prints which targets are met. The
 * exit code is 1 when a subscriber missed an event. Slow figures do not fail the run: they depend on the
 * machine.
 */
import { createStore, type Store } from "@planwright/store";
import { operation } from "../../client/bench-client.ts";
import { print, printJson, say } from "../../report/output.ts";
import { startServers } from "../../servers/start-servers.ts";
import { startService } from "../../servers/start-service.ts";
import { type Followed, measureFollowing } from "./following.ts";
import { type Attacked, measureHeavy } from "./heavy.ts";
import { measureOverload } from "./overload.ts";
import { BLOG_TOOLS, blogPlan, storedPlan } from "./plans.ts";
import { measurePolling, POLLS } from "./polling.ts";
import { AT_ONCE, type Measurement, readSettings } from "./settings.ts";
import { measureMutations } from "./submitting.ts";
import { type Subscribe, subscribeToEvents, subscribeToSocket } from "./subscribers.ts";
import { exitCodeOf, heavyTargets, targetsOf } from "./targets.ts";

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
await measureIfWanted("stepPolls", () => measurePolling({ ...polling, query: POLLS.steps, everyMs: 0 }));
await measureIfWanted("statusPollsOncePerSecond", () =>
  measurePolling({ ...polling, query: POLLS.status, everyMs: 1_000 }),
);

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
