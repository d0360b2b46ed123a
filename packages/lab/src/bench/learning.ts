/**
 * The cost of learning the shapes of outputs: the same plans over two executors that differ in nothing else.
 * Each has a separate database. They run in turns (off, on, on, off), so that other load on the machine
 * affects both. The recorder is also measured alone, call by call.
 *
 * npm run bench -- learning [--pairs 12] [--plans 300] [--json]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type JsonValue, type Plan, parsePlan } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import { countingToolServerCommand } from "@planwright/testing";
import { createOutputRecorder } from "../../../../services/executor/src/outputs/output-recorder.ts";
import { developerCommand, printJson, say, wholeNumberOption } from "../command/developer-command.ts";
import { startServers } from "../servers/servers.ts";
import { openBenchSystem } from "./bench-system.ts";
import { median, rounded } from "./figures.ts";

const { pairs, plans, json } = developerCommand(
  "bench -- learning",
  "Measures an executor with and without learning the shapes of outputs, in pairs.",
)
  .option("--pairs <number>", "pairs of measurements", wholeNumberOption(2, 1_000), 12)
  .option("--plans <number>", "plans of each measurement", wholeNumberOption(10, 100_000), 300)
  .option("--json", "print the figures as JSON, last", false)
  .parse()
  .opts<{ pairs: number; plans: number; json: boolean }>();
const IN_FLIGHT = 32;
const STEPS = 8;
/** Twenty records as a search returns them, about 3 KB. */
const OUTPUT = Array.from({ length: 20 }, (_, index) => ({
  id: index,
  title: `Record ${index} of those that were found`,
  owner: { name: "Kim Park", email: "kim@mail.test" },
  labels: ["open", "late"],
  ...(index % 3 === 0 && { closedAt: "2026-11-25T08:52:11Z" }),
}));

const servers = await startServers();
const { folder, redisUrl } = servers;
// The tools of this server declare no output schemas, so there is something to learn.
const counting = countingToolServerCommand({ ledgerFile: join(folder, "ledger.jsonl"), stdio: true });
const serversFile = join(folder, "servers.json");
await writeFile(serversFile, JSON.stringify({ mcpServers: { counting: { ...counting, trusted: true } } }));

const system = (learning: "on" | "off") =>
  openBenchSystem({
    mongodbUrl: servers.mongodbUrl(`learning-${learning}`),
    redisUrl,
    serversFile,
    queuePrefix: `learning-${learning}`,
    env: { LEARN_OUTPUTS: learning },
  });
const [off, on] = [await system("off"), await system("on")];
const executors = [await off.startExecutor(), await on.startExecutor()];
const plan = widePlan();
for (const each of [off, on]) await each.measure(plan, 200, IN_FLIGHT);

const differences = { cpuMicroseconds: [] as number[], percent: [] as number[] };
const cpuOf = { off: [] as number[], on: [] as number[] };
for (let pair = 0; pair < pairs; pair += 1) {
  const turns = pair % 2 === 0 ? (["off", "on"] as const) : (["on", "off"] as const);
  const cpu = { off: 0, on: 0 };
  const speed = { off: 0, on: 0 };
  for (const turn of turns) {
    const measured = await (turn === "on" ? on : off).measure(plan, plans, IN_FLIGHT);
    cpu[turn] = ((measured.cpuMsPerPlan["executor"] ?? 0) * 1_000) / STEPS;
    speed[turn] = measured.stepsPerSecond;
    cpuOf[turn].push(cpu[turn]);
  }
  differences.cpuMicroseconds.push(cpu.on - cpu.off);
  differences.percent.push((speed.off / speed.on - 1) * 100);
  say(`pair ${pair + 1}: ${speed.off} steps/s without, ${speed.on} with`);
}
await Promise.all(executors.map((one) => one.stop("SIGKILL")));
await Promise.all([off.close(), on.close()]);
await servers.stop();

const results = {
  steps: pairs * plans * STEPS,
  executorCpuMicrosecondsPerStep: { without: round(median(cpuOf.off)), with: round(median(cpuOf.on)) },
  cpuMicrosecondsPerStepMore: spread(differences.cpuMicroseconds),
  timePercentMore: spread(differences.percent),
  recorderMicroseconds: recorderAlone(),
};
if (json) printJson(results);
else console.dir(results, { depth: 4 });

/** Concurrent reads, all with the same output. */
function widePlan(): Plan {
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    id: `s${index}`,
    tool: "noop",
    arguments: { value: OUTPUT },
  }));
  const parsed = parsePlan(steps);
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** Microseconds of one call of the recorder: for an output that it examines, and for one that it skips. */
function recorderAlone(): { lookedAt: number; passedOver: number } {
  const tools = Array.from({ length: 4 }, (_, index) => ({ name: `tool${index}`, server: "s" }));
  const output: JsonValue = { tool: "noop", value: OUTPUT };
  const looked: number[] = [];
  const passed: number[] = [];
  for (let round = 0; round < 2_000; round += 1) {
    const recorder = createOutputRecorder({
      store: { learnOutputs: async () => {} },
      logger: createLogger({ service: "bench", level: "silent" }),
      clock: { after: () => () => {} },
    });
    const timeOf = () => {
      const startedAt = performance.now();
      for (const tool of tools) recorder.note({ tenant: "t", tool, isItem: false, output });
      return ((performance.now() - startedAt) * 1_000) / tools.length;
    };
    // The recorder examines this many outputs of a tool between two writes.
    for (let look = 0; look < 8; look += 1) looked.push(timeOf());
    passed.push(timeOf());
  }
  return { lookedAt: round(median(looked)), passedOver: round(median(passed)) };
}

/** The median of the pairs, and the quartiles, between which half of the pairs are. */
function spread(values: readonly number[]): { median: number; quartiles: [number, number] } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { median: round(median(values)), quartiles: [round(at(0.25)), round(at(0.75))] };
}

function round(value: number): number {
  return rounded(value, 2);
}
