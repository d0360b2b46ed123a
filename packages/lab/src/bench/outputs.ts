/**
 * A plan whose outputs are larger than the memory of any process: its duration, the memory of its executor,
 * and the time of a cancel. The last steps refer to the first ones, so that outputs are read again.
 *
 * npm run bench -- outputs [--steps 990] [--bytes 7900000] [--memory 268435456] [--json]
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isTerminalPlanStatus, type Plan, parsePlan } from "@planwright/plan";
import { countUnits, type PlanDocument } from "@planwright/store";
import { startCountingToolServer } from "@planwright/testing";
import { developerCommand, printJson, wholeNumberOption } from "../command/developer-command.ts";
import { startServers } from "../servers/servers.ts";
import { openBenchSystem } from "./bench-system.ts";
import { rounded } from "./figures.ts";

const { steps, bytes, memory, json } = developerCommand(
  "bench -- outputs",
  "Runs and cancels a plan with large outputs, and measures its executor.",
)
  .option("--steps <number>", "steps with a large output", wholeNumberOption(20, 990), 990)
  .option("--bytes <number>", "size of each", wholeNumberOption(1, 8_000_000), 7_900_000)
  .option(
    "--memory <bytes>",
    "OUTPUT_MEMORY_BYTES of the executor",
    wholeNumberOption(16_777_216, 2 ** 34),
    268_435_456,
  )
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ steps: number; bytes: number; memory: number; json: boolean }>();
const TENANT = "bench";
/** Number of last steps, which refer to the first ones. */
const LAST = 10;

const servers = await startServers();
const { folder, redisUrl } = servers;
const tools = await startCountingToolServer({ ledgerFile: join(folder, "ledger.jsonl") });
const serversFile = join(folder, "servers.json");
await writeFile(serversFile, JSON.stringify({ mcpServers: { counting: { url: tools.url, trusted: true } } }));
const system = await openBenchSystem({
  mongodbUrl: servers.mongodbUrl("outputs"),
  redisUrl,
  serversFile,
  env: { OUTPUT_MEMORY_BYTES: String(memory) },
});
const executor = await system.startExecutor();
let peakRssBytes = 0;
const sampling = setInterval(() => {
  peakRssBytes = Math.max(peakRssBytes, rssBytes());
}, 100);

const completed = await run();
const completedPeak = peakRssBytes;
peakRssBytes = 0;
const cancelled = await run({ cancelAt: Math.floor(steps / 2) });
clearInterval(sampling);
await executor.stop("SIGKILL");
await system.close();
await tools.close();
await servers.stop();

const results = {
  outputs: { steps, bytes, totalGb: round((steps * bytes) / 1e9), memoryMiB: mib(memory) },
  completed: { ...completed, peakRssMiB: mib(completedPeak) },
  cancelled: { ...cancelled, peakRssMiB: mib(peakRssBytes) },
};
console.table({ completed: results.completed, cancelled: results.cancelled });
if (json) printJson(results);

/** Submits the plan and waits for its end; cancels it when `cancelAt` steps have completed. */
async function run({ cancelAt }: { cancelAt?: number } = {}) {
  tools.script({ read_value: Array.from({ length: steps }, () => ({ type: "huge" as const, bytes })) });
  const submitted = await system.store.submitPlan({
    tenant: TENANT,
    query: null,
    plan: planOf(),
    raw: "",
    diagnostics: [],
    autoExecute: true,
  });
  const { _id: planId } = submitted.plan;
  const startedAt = performance.now();
  let cancelledAt: number | undefined;
  for (;;) {
    await delay(100);
    const plan = await system.store.getPlan(TENANT, planId);
    if (plan && isTerminalPlanStatus(plan.status)) {
      const since = cancelledAt ?? startedAt;
      return {
        status: plan.status,
        counts: countsOf(plan),
        seconds: round((performance.now() - since) / 1_000),
      };
    }
    if (cancelAt === undefined || cancelledAt !== undefined) continue;
    const read = await system.store.readUnits(TENANT, planId);
    if (!read || countUnits(read, { status: ["COMPLETED"] }) < cancelAt) continue;
    await system.store.requestCancel(TENANT, planId, "client");
    cancelledAt = performance.now();
  }
}

function planOf(): Plan {
  const read = Array.from({ length: steps }, (_, index) => ({ id: `read${index}`, tool: "read_value" }));
  const last = Array.from({ length: LAST }, (_, index) => ({
    id: `last${index}`,
    tool: "keyed_effect",
    arguments: { value: `<<read${index}.tool>>` },
    dependsOn: read.map(({ id }) => id).slice(-50),
  }));
  const parsed = parsePlan({ steps: [...read, ...last] });
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

function countsOf({ counts }: PlanDocument): string {
  return Object.entries(counts ?? {})
    .map(([status, count]) => `${status} ${count}`)
    .join(", ");
}

/** Memory of the executor; 0 without /proc. */
function rssBytes(): number {
  try {
    const status = readFileSync(`/proc/${executor.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024;
  } catch {
    return 0; // it has ended, or this is not Linux
  }
}

function mib(size: number): number {
  return Math.round(size / 1_048_576);
}

function round(value: number): number {
  return rounded(value, 1);
}
