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
import { countingToolServerCommand } from "@planwright/testing";
import { developerCommand, wholeNumberOption, wordsOption } from "../../command/developer-command.ts";
import { residentMiB } from "../../measuring/process-cpu.ts";
import { rounded } from "../../measuring/statistics.ts";
import { chain, diamond, wide } from "../../plans/graph-shapes.ts";
import { printJson, say } from "../../report/output.ts";
import { startServers } from "../../servers/start-servers.ts";
import { openBenchSystem } from "./bench-system.ts";
import { ceiling } from "./ceiling.ts";
import { maskingCost } from "./masking.ts";
import { planOf } from "./plan-of.ts";

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
