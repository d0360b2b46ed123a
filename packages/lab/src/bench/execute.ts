/**
 * Durable steps per second and the latency of one plan, with real servers, real executors and no-op tools.
 * Everything is measured in one run on one machine, including the maximum write rate of the database for
 * comparison.
 *
 * npm run bench -- execute [--plans 1000] [--only diamond chain] [--json]
 */
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type JsonValue, type Plan, parsePlan } from "@planwright/plan";
import { countingToolServerCommand } from "@planwright/testing";
import { createMasker } from "@planwright/tools";
import {
  developerCommand,
  printJson,
  say,
  wholeNumberOption,
  wordsOption,
} from "../command/developer-command.ts";
import { chain, diamond, type GraphStep, wide } from "../random/plan-shapes.ts";
import { startServers } from "../servers/servers.ts";
import { ceiling, openBenchSystem } from "./bench-system.ts";
import { residentMiB, rounded } from "./figures.ts";

const SECRETS = 50;
const ROUNDS = 100;

/**
 * Microseconds of CPU for masking 50 secrets, per KiB of output (its JSON text), for records and for text.
 */
function maskingCost(): { recordsMicrosecondsPerKiB: number; textMicrosecondsPerKiB: number } {
  const values = Array.from(
    { length: SECRETS },
    (_, index) => `sk-${index}-${"x9f8e7d6c5b4a3f2e1".repeat(2)}`,
  );
  const masker = createMasker(values);
  const records = Array.from({ length: 200 }, (_, index) => ({
    id: index,
    title: `Record ${index} of those that were found`,
    owner: { name: "Kim Park", email: "kim@mail.test" },
    labels: ["open", "late"],
    closedAt: "2026-11-25T08:52:11Z",
  }));
  const text = JSON.stringify(records);
  const cost = (output: JsonValue): number => {
    const kib = JSON.stringify(output).length / 1_024;
    const before = process.cpuUsage();
    for (let round = 0; round < ROUNDS; round += 1) masker.json(output);
    const { user, system } = process.cpuUsage(before);
    return Math.round(((user + system) / ROUNDS / kib) * 100) / 100;
  };
  return { recordsMicrosecondsPerKiB: cost(records), textMicrosecondsPerKiB: cost(text) };
}

/** A plan of no-op steps. Its limits are far above those of clients, to see how costs grow. */
function planOf(steps: readonly GraphStep[], latencyMs?: number): Plan {
  const parsed = parsePlan(
    steps.map(({ id, dependsOn }) => ({
      id,
      dependsOn: [...dependsOn],
      tool: "noop",
      arguments: { value: 1, ...(latencyMs !== undefined && { latencyMs }) },
    })),
    { limits: { maxSteps: 100_000, maxBytes: 64 * 1_048_576 }, policy: { maxParallel: 64 } },
  );
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const MEASUREMENTS = [
  "ceilingUpdatesPerSecond",
  "diamondAlone",
  "diamond",
  "chain",
  "slowTools",
  "wide10",
  "wide100",
  "wide1000",
  "wide10000",
  "memory",
  "masking",
  "diamondFourExecutors",
] as const;
type Measurement = (typeof MEASUREMENTS)[number];

const values = developerCommand(
  "bench -- execute",
  "Measures the executor over real servers and no-op tools.",
)
  .option("--plans <number>", "plans of each measurement", wholeNumberOption(1, 100_000), 600)
  .option("--only <measurement...>", "measure nothing else", wordsOption(MEASUREMENTS), [])
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ plans: number; only: Measurement[]; json: boolean }>();
const PLANS = values.plans;
/** a -> (b, c, d) -> e */
const DIAMOND = diamond(5);
const IN_FLIGHT = 64;
/** Plans before the measurements, so that the JIT has compiled the code. */
const WARM_UP = 1_000;

const servers = await startServers();
const { folder, redisUrl } = servers;
// Over stdio, the cheapest transport, so that the executor is measured and not HTTP.
const toolServer = countingToolServerCommand({ ledgerFile: join(folder, "ledger.jsonl"), stdio: true });
const serversFile = join(folder, "servers.json");
await writeFile(serversFile, JSON.stringify({ mcpServers: { counting: { ...toolServer, trusted: true } } }));

const system = await openBenchSystem({ mongodbUrl: servers.mongodbUrl("bench"), redisUrl, serversFile });

const results: Record<string, object> = { runtime: { node: process.version, cores: availableParallelism() } };
/** Runs the measurement unless `--only` names others. */
async function measureIfWanted(name: Measurement, measuring: () => Promise<object>): Promise<void> {
  if (values.only.length > 0 && !values.only.includes(name)) return;
  results[name] = await measuring();
  say(`${name} ${JSON.stringify(results[name])}`);
}
/** Converts nested objects to text, because a table cannot show them. */
function toCells(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "object" ? JSON.stringify(value).replaceAll(/["{}[\]]/g, "") : value,
    ]),
  );
}

await measureIfWanted("ceilingUpdatesPerSecond", async () => ({
  bulksOf64: await ceiling(system.client, 64),
  bulksOf256: await ceiling(system.client, 256),
}));
const first = await system.startExecutor();
await system.measure(planOf(DIAMOND), WARM_UP, 8);
await measureIfWanted("diamondAlone", () => system.measure(planOf(DIAMOND), 100, 1));
await measureIfWanted("diamond", () => system.measure(planOf(DIAMOND), PLANS, IN_FLIGHT));
await measureIfWanted("chain", () => system.measure(planOf(chain(5)), PLANS, IN_FLIGHT));
await measureIfWanted("slowTools", async () => {
  const criticalPathMs = 3 * 400;
  const { p50Ms } = await system.measure(planOf(DIAMOND, 400), 20, 1);
  return { criticalPathMs, p50Ms, abovePercent: rounded((p50Ms / criticalPathMs - 1) * 100, 1) };
});
for (const steps of [10, 100, 1_000, 10_000] as const) {
  const count = Math.max(1, Math.round(1_000 / steps));
  await measureIfWanted(`wide${steps}`, () => system.measure(planOf(wide(steps)), count, 1));
}
await measureIfWanted("memory", async () => {
  const before = residentMiB("executor/src/main");
  const after: (number | null)[] = [];
  for (let part = 0; part < 5; part += 1) {
    await system.measure(planOf(wide(1_000)), 20, 4);
    after.push(residentMiB("executor/src/main"));
  }
  return { steps: 100_000, residentMiBBefore: before, residentMiBAfterEach20000: after };
});
await measureIfWanted("masking", async () => maskingCost());
await measureIfWanted("diamondFourExecutors", async () => {
  const others = [await system.startExecutor(), await system.startExecutor(), await system.startExecutor()];
  const measured = await system.measure(planOf(DIAMOND), PLANS, IN_FLIGHT);
  await Promise.all(others.map((one) => one.stop("SIGKILL")));
  return measured;
});
await first.stop("SIGKILL");

if (values.json) printJson(results);
else console.table(Object.fromEntries(Object.entries(results).map(([name, row]) => [name, toCells(row)])));
await system.close();
await servers.stop();
