/**
 * Measures plans from the HTTP request to their end. The built system runs twice: its roles in one process, and
 * each in its own; with --processes also in several processes of all roles. The tools are a separate process, over
 * MCP. With --peers it also measures alternatives on the same steps: once with steps that do nothing in their process,
 * and once with the same calls over MCP as ours. The clients run in this process. All contenders stay up and take
 * turns, so that other load on the machine affects all of them.
 *
 * npm run bench -- system [--seconds 10] [--clients 64] [--rounds 3] [--processes 2] [--peers] [--node 24]
 * [--json] The exit code is 1 when a plan does not end COMPLETED. Slow figures do not fail the run: they depend on the machine.
 */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { countingToolServerCommand } from "@planwright/testing";
import { developerCommand, print, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { type Contender, PlanNotCompletedError, startPlanwright } from "./contenders/contender.ts";
import { installPeers, startDbos, startRestate } from "./contenders/peers.ts";
import { cpuMsPerPlan, cpuSeconds, latenciesOf, rounded } from "./figures.ts";
import { type BenchFigures, type Measurement, mediansOf, tableOf } from "./system-figures.ts";

/** Far more than a plan takes on an overloaded machine: a plan that takes longer counts as lost. */
const MAX_PLAN_MS = 60_000;

/** Options of {@link measure}. */
interface Load {
  inFlight: number;
  /** Plans that start within this time are awaited and counted. */
  forMs: number;
  /** Maximum number of plans; default: no limit. */
  maxPlans?: number;
}

/** Runs plans of a contender in `inFlight` concurrent loops. */
async function measure(
  contender: Contender,
  { inFlight, forMs, maxPlans = Number.POSITIVE_INFINITY }: Load,
): Promise<BenchFigures> {
  const { processes, pids, counts = () => Promise.resolve({}) } = contender;
  const countsBefore: Record<string, number> = await counts();
  const cpuBefore = cpuSeconds(processes, pids);
  const beganAt = performance.now();
  const durations: number[] = [];
  let begun = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let askedAt = beganAt; askedAt < beganAt + forMs; askedAt = performance.now()) {
        if (begun === maxPlans) return;
        begun += 1;
        await runInTime(contender);
        durations.push(performance.now() - askedAt);
      }
    }),
  );
  const tookMs = performance.now() - beganAt;
  const cpuAfter = cpuSeconds(processes, pids);
  const countsAfter: Record<string, number> = await counts();
  const plans = durations.length;
  const { p50Ms, p99Ms } = latenciesOf(durations);
  return {
    plans,
    plansPerSecond: rounded((plans * 1_000) / tookMs, 1),
    p50Ms,
    p99Ms,
    cpuMs: cpuMsPerPlan(cpuBefore, cpuAfter, plans),
    counts: Object.fromEntries(
      Object.entries(countsAfter).map(([name, count]) => [
        name,
        rounded((count - (countsBefore[name] ?? 0)) / plans, 1),
      ]),
    ),
  };
}

/** Runs one plan. @throws {PlanNotCompletedError} also when it does not end in time */
async function runInTime(contender: Contender): Promise<void> {
  const done = new AbortController();
  const late = async (): Promise<void> => {
    await delay(MAX_PLAN_MS, undefined, { signal: done.signal });
    throw new PlanNotCompletedError({ contender: contender.name, reason: `no end after ${MAX_PLAN_MS} ms` });
  };
  await Promise.race([contender.runPlan(), late()]).finally(() => done.abort());
}

/** Options of the command line. */
interface Settings {
  /** Duration of each measurement. */
  seconds: number;
  clients: number;
  rounds: number;
  processes: number;
  peers: boolean;
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
function readSettings(args: readonly string[]): Settings {
  return developerCommand(
    "bench -- system",
    "Measures plans from the HTTP request to their end; with --peers those of Restate and DBOS too.",
  )
    .option("--seconds <number>", "of each measurement", wholeNumberOption(1, 600), 10)
    .option("--clients <number>", "plans in flight, beside one alone", wholeNumberOption(2, 1_000), 64)
    .option("--rounds <number>", "of which the medians are shown", wholeNumberOption(1, 100), 3)
    .option("--processes <number>", "also this many processes of all roles", wholeNumberOption(1, 16), 1)
    .option("--peers", "install Restate and DBOS from npm, and measure them in turns with Planwright", false)
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}

const { seconds, clients, rounds, processes, peers, json } = readSettings(process.argv.slice(2));
const forMs = seconds * 1_000;
const folder = await mkdtemp(join(tmpdir(), "planwright-bench-"));
await chmod(folder, 0o755); // PostgreSQL refuses to run as root, so it runs as another user
const contenders: Contender[] = [];
/** Plans before the measurements, so that the JIT has compiled the code. Fewer on a slow machine. */
const WARM_UP_PLANS = 1_000;
const MAX_WARM_UP_MS = 6 * forMs;

async function startAll(): Promise<void> {
  for (const isTogether of [true, false]) {
    const dataDir = join(folder, isTogether ? "together" : "apart");
    contenders.push(await startPlanwright({ dataDir, clients, isTogether }));
  }
  if (processes > 1) {
    const dataDir = join(folder, "processes");
    contenders.push(await startPlanwright({ dataDir, clients, isTogether: true, processes }));
  }
  if (!peers) return;
  const installed = installPeers();
  for (const isMcp of [false, true]) {
    const dataDir = join(folder, isMcp ? "peers-mcp" : "peers");
    const tools = isMcp
      ? countingToolServerCommand({ ledgerFile: join(dataDir, "ledger.jsonl"), stdio: true })
      : undefined;
    await mkdir(dataDir);
    contenders.push(await startRestate({ dataDir, clients, installed, tools }));
    contenders.push(await startDbos({ dataDir, clients, installed, tools }));
  }
}

async function measureAll(): Promise<Measurement[]> {
  for (const contender of contenders) {
    say(`${contender.name} warms up`);
    await measure(contender, { inFlight: clients, forMs: MAX_WARM_UP_MS, maxPlans: WARM_UP_PLANS });
  }
  const series = contenders.flatMap((contender) =>
    [clients, 1].map((inFlight) => ({ contender, inFlight, figures: new Array<BenchFigures>() })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    for (const { contender, inFlight, figures } of series) {
      const measured = await measure(contender, { inFlight, forMs });
      figures.push(measured);
      say(`round ${round}: ${contender.name}, ${inFlight} in flight ${JSON.stringify(measured)}`);
    }
  }
  return series.map(({ contender: { name, versions, steps, end }, inFlight, figures }) => ({
    name,
    versions,
    steps,
    end,
    inFlight,
    figures: mediansOf(figures),
  }));
}

try {
  await startAll();
  const measurements = await measureAll();
  const runtime = { node: process.version, cores: availableParallelism(), loadAverage: loadavg() };
  if (json) printJson({ runtime, seconds, rounds, measurements });
  else {
    console.table(tableOf(measurements));
    print(`Node ${runtime.node}, ${runtime.cores} cores, load average ${loadavg()[0]?.toFixed(1)}`);
  }
} finally {
  await Promise.all(contenders.map((contender) => contender.close()));
  await rm(folder, { recursive: true, force: true });
}
