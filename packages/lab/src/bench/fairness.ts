/**
 * How long a small tenant waits beside a busy one: the time from the submission of a single step to its call,
 * alone, and beside a tenant whose plans wait. Real servers and executors.
 *
 * npm run bench -- fairness [--waiting 10000] [--samples 100] [--tool-ms 1000] [--executors 1] [--json]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Plan, parsePlan } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore } from "@planwright/store";
import { startCountingToolServer } from "@planwright/testing";
import { developerCommand, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { startServers, startService } from "../servers/servers.ts";
import { latenciesOf, perSecond, rounded } from "./figures.ts";

const options = developerCommand("bench -- fairness", "Measures a small tenant beside a busy one.")
  .option("--waiting <number>", "plans of the busy tenant", wholeNumberOption(100, 1_000_000), 10_000)
  .option(
    "--samples <number>",
    "plans of the small tenant, alone and beside",
    wholeNumberOption(10, 10_000),
    100,
  )
  .option("--tool-ms <number>", "time of each call of the busy tenant", wholeNumberOption(0, 600_000), 1_000)
  .option("--executors <number>", "processes", wholeNumberOption(1, 64), 1)
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ waiting: number; samples: number; toolMs: number; executors: number; json: boolean }>();

/** Longest wait for a call, in milliseconds: a plan that waits longer counts as lost. */
const MAX_START_MS = 120_000;
/** Plans before the measurements, so that the JIT has compiled the code. */
const WARM_UP = 200;
/** Submissions of the busy tenant in flight. */
const IN_FLIGHT = 32;

const servers = await startServers();
const tools = await startCountingToolServer({ ledgerFile: join(servers.folder, "ledger.jsonl") });
const serversFile = join(servers.folder, "servers.json");
await writeFile(serversFile, JSON.stringify({ mcpServers: { counting: { url: tools.url, trusted: true } } }));
const mongodbUrl = servers.mongodbUrl("fairness");
const store = await createStore({ url: mongodbUrl });
for (const tenant of ["busy", "small"])
  await store.createApiKey({ tenant, name: tenant, scopes: ["execute"] });
const queues = createQueues({ redisUrl: servers.redisUrl });
const executors = await Promise.all(
  Array.from({ length: options.executors }, () =>
    startService("executor", "source", {
      MONGODB_URL: mongodbUrl,
      REDIS_URL: servers.redisUrl,
      MCP_SERVERS_FILE: serversFile,
    }),
  ),
);

function oneCall(tool: string, latencyMs: number): Plan {
  const parsed = parsePlan([{ id: "a", tool, timeoutMs: 600_000, arguments: { value: 1, latencyMs } }]);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

async function submit(tenant: string, plan: Plan): Promise<void> {
  const submitted = await store.submitPlan({
    tenant,
    query: null,
    plan,
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  queues.offerExecution(submitted.plan);
}

const callsOf = (tool: string): number => tools.stats()[tool]?.calls ?? 0;

/** Times from the submission of a step to its call, one after the other, in milliseconds. */
async function starts(count: number): Promise<number[]> {
  const plan = oneCall("noop", 0);
  const durations: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const before = callsOf("noop");
    const submittedAt = performance.now();
    await submit("small", plan);
    while (callsOf("noop") === before) {
      if (performance.now() - submittedAt > MAX_START_MS) throw new TypeError("The plan did not start");
      await delay(1);
    }
    durations.push(performance.now() - submittedAt);
    await delay(20);
  }
  return durations;
}

await starts(WARM_UP);
const alone = latenciesOf(await starts(options.samples));
say(`alone ${JSON.stringify(alone)}`);

const busyPlan = oneCall("read_value", options.toolMs);
const submittedAt = performance.now();
let left = options.waiting;
await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    while (left > 0) {
      left -= 1;
      await submit("busy", busyPlan);
    }
  }),
);
say(
  `${options.waiting} plans submitted, ${perSecond(options.waiting, performance.now() - submittedAt)} a second`,
);
const besideFrom = { at: performance.now(), calls: callsOf("read_value") };
const beside = latenciesOf(await starts(options.samples));
const besideMs = performance.now() - besideFrom.at;
const busyCallsPerSecond = perSecond(callsOf("read_value") - besideFrom.calls, besideMs);
const stillWaiting = options.waiting - callsOf("read_value");
const figures = {
  alone,
  beside,
  p95Ratio: rounded(beside.p95Ms / alone.p95Ms, 2),
  busyCallsPerSecond,
  stillWaiting,
};
if (options.json) printJson(figures);
else console.table({ alone, beside });
say(
  `The p95 of a start beside ${stillWaiting} waiting plans is ${figures.p95Ratio} times that alone; the target is 2 at most. The busy tenant made ${busyCallsPerSecond} calls a second.`,
);

await Promise.all(executors.map((executor) => executor.stop("SIGKILL")));
await Promise.all([queues.close(), store.close(), tools.close()]);
await servers.stop();
