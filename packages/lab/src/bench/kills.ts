/**
 * Kills processes with SIGKILL while plans run, one after the other, and restarts each at once; then compares what
 * the systems report with the effects that happened. It does so with the built system in one process, with its
 * roles apart, and with a peer that repeats steps without asking (DBOS on PostgreSQL), each with its own databases
 * and its own tool server, one system after the other. The clients run in this process.
 *
 * npm run bench -- kills [--kills 1000] [--peer-kills 300] [--in-flight 8] [--seed 1] [--json] [--node 24]
 *
 * The exit code is 1 when Planwright lost or doubled something. The figures of the peer do not change it.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ApiRefusedError } from "@planwright/client";
import type { UnexpectedEnd } from "@planwright/local";
import { CodedError } from "@planwright/plan";
import { readLedger } from "@planwright/testing";
import {
  alignColumns,
  developerCommand,
  print,
  printJson,
  say,
  wholeNumberOption,
} from "../command/developer-command.ts";
import { createRandom, type Random } from "../random/random.ts";
import {
  type KillableOptions,
  type KillableSystem,
  startKillableDbos,
  startKillablePlanwright,
} from "./contenders/kill-targets.ts";
import { installPeers } from "./contenders/peers.ts";
import {
  type AcceptedPlan,
  byTarget,
  type KilledProcess,
  type KillFigures,
  type KillRun,
  killFiguresOf,
  nameOf,
  repeatsOf,
} from "./kill-figures.ts";

/** A plan that has not ended this long after the last kill is lost, in milliseconds. */
const MAX_RECOVERY_MS = 120_000;
/** How often a client reads its plan, and tries again without an answer, in milliseconds. */
const READ_EVERY_MS = 50;
/** Longest time from the moment at which a system takes plans again until the next kill, in milliseconds. */
const MAX_BETWEEN_MS = 400;
const SAY_EVERY_MS = 10_000;
/** Most lines of evidence for one system. */
const MAX_EVIDENCE = 20;

/** After a kill the system accepted no plan, although each of its processes was ready. */
class NoPlanAcceptedError extends CodedError<{ system: string; killed: string }> {
  readonly code = "NO_PLAN_ACCEPTED";
  readonly retryable = false;
  constructor(facts: { system: string; killed: string }) {
    super(
      `${facts.system} accepted no plan for ${MAX_RECOVERY_MS} ms after ${facts.killed} was killed`,
      facts,
    );
  }
}

/** A plan as its client knows it. */
interface ClientPlan extends AcceptedPlan {
  id: string;
  tool: string;
  /** Its steps in doubt, each with how its attempts ended. */
  doubts: readonly string[];
}

/** Clients that keep a constant number of plans running. */
interface Clients {
  readonly plans: readonly ClientPlan[];
  /** The plans that have not ended. @throws what the system refused for good */
  running(): ClientPlan[];
  /** Starts no further plan. Resolves when all plans have ended or wait for a person, or the time has passed. */
  finish(): Promise<void>;
}

function startClients(system: KillableSystem, inFlight: number): Clients {
  const plans: ClientPlan[] = [];
  const running = new Set<ClientPlan>();
  let endsAt = Number.POSITIVE_INFINITY;
  let isOver = false;
  let begun = 0;
  let refusal: Error | undefined;

  /** Repeats until it is answered; undefined when the time has passed. @throws a refusal that will not change */
  async function untilAnswered<T>(send: () => Promise<T>): Promise<T | undefined> {
    while (performance.now() < endsAt) {
      try {
        return await send();
      } catch (error) {
        if (error instanceof ApiRefusedError && !error.retryable) throw error;
        await delay(READ_EVERY_MS);
      }
    }
    return undefined;
  }

  async function runPlan(): Promise<void> {
    const name = `plan-${begun}`;
    const tool = system.tools[begun % system.tools.length] ?? "plain_effect";
    begun += 1;
    const id = await untilAnswered(() => system.submit({ name, tool }));
    if (id === undefined) throw new NoPlanAcceptedError({ system: system.name, killed: "the last process" });
    const at = Date.now();
    const last = { state: "running" as const, at };
    const plan: ClientPlan = { name, tool, id, acceptedAt: at, last, completed: [], inDoubt: [], doubts: [] };
    plans.push(plan);
    running.add(plan);
    while (running.has(plan) && performance.now() < endsAt) {
      await delay(READ_EVERY_MS);
      await look(plan);
    }
  }

  async function look(plan: ClientPlan): Promise<void> {
    const reading = await untilAnswered(() => system.read(plan.id));
    if (reading === undefined) return;
    const { state, completed, inDoubt, doubts = [] } = reading;
    if (state !== plan.last.state) plan.last = { state, at: Date.now() };
    Object.assign(plan, { completed, inDoubt, doubts });
    if (state !== "running") running.delete(plan);
  }

  async function inLoops(work: () => Promise<boolean>): Promise<void> {
    const loop = async () => {
      while (await work());
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
  }

  const loops = inLoops(async () => {
    if (!isOver) await runPlan();
    return !isOver;
  }).catch((error: unknown) => {
    refusal = error instanceof Error ? error : new TypeError(String(error));
  });
  return {
    plans,
    running() {
      if (refusal) throw refusal;
      return [...running];
    },
    async finish() {
      isOver = true;
      endsAt = performance.now() + MAX_RECOVERY_MS;
      await loops;
      if (refusal) throw refusal;
      // Once more: what was reported before the last kills has to be there still.
      endsAt = performance.now() + MAX_RECOVERY_MS;
      const left = [...plans];
      await inLoops(async () => {
        const plan = left.pop();
        if (plan) await look(plan);
        return left.length > 0;
      });
    },
  };
}

/** What one system went through. */
interface Measured {
  name: string;
  versions: KillableSystem["versions"];
  seconds: number;
  figures: KillFigures;
  /** By the tool of the plans. */
  byTool: Record<string, KillFigures>;
  byTarget: ReturnType<typeof byTarget>;
  /** Processes that ended although they were not killed. */
  unexpectedEnds: number;
}

/** Kills processes of a running system until there were `count` kills; then waits for the end of its plans. */
async function measure(
  system: KillableSystem,
  { count, inFlight, random }: { count: number; inFlight: number; random: Random },
): Promise<Omit<Measured, "unexpectedEnds">> {
  const beganAt = performance.now();
  const kills: KilledProcess[] = [];
  const clients = startClients(system, inFlight);
  const progress = (): string => {
    const ended = clients.plans.length - clients.running().length;
    return `${system.name}: ${kills.length} kills, ${clients.running().length} plans in flight, ${ended} ended`;
  };
  const timer = setInterval(() => say(progress()), SAY_EVERY_MS);
  try {
    let turn: string[] = [];
    let upAt = 0;
    while (kills.length < count) {
      if (turn.length === 0) turn = random.shuffled(Object.keys(system.targets));
      const target = turn.pop() ?? "";
      await takesPlans(system, clients, { since: upAt, killed: kills.at(-1)?.target ?? "nothing" });
      await delay(random.whole(0, MAX_BETWEEN_MS));
      const names = clients.running().map(({ name }) => name);
      kills.push({ target, at: Date.now(), inFlight: names });
      await system.targets[target]?.kill();
      await system.targets[target]?.restart();
      upAt = Date.now();
    }
    await clients.finish();
  } finally {
    clearInterval(timer);
  }
  const ledger = await readLedger(system.ledgerFile);
  const run = { plans: clients.plans, kills, ledger };
  for (const line of evidenceOf(run).slice(0, MAX_EVIDENCE)) say(`${system.name}: ${line}`);
  const tools = new Map(clients.plans.map(({ name, tool }) => [name, tool]));
  return {
    name: system.name,
    versions: system.versions,
    seconds: Math.round((performance.now() - beganAt) / 1_000),
    figures: killFiguresOf(run),
    byTool: Object.fromEntries(
      system.tools.map((tool) => [tool, killFiguresOf(run, (plan) => tools.get(plan) === tool)]),
    ),
    byTarget: byTarget(run),
  };
}

/**
 * A line for each plan that did not end, for each effect that was doubled, and for each plan that waits for a person
 * although its tool honours keys.
 */
function evidenceOf({
  plans,
  ledger,
}: {
  plans: readonly ClientPlan[];
  ledger: KillRun["ledger"];
}): string[] {
  const left = plans.filter(({ last }) => last.state === "running" || last.state === "unknown");
  return [
    ...left.map(({ name, id, last }) => `${name} (${id}) is ${last.state}`),
    ...repeatsOf(ledger).map((entry) => `the effect ${nameOf(entry)} happened again`),
    ...plans
      .filter(({ last, tool }) => last.state === "waits" && tool === "keyed_effect")
      .map(({ name, id, doubts }) => `${name} (${id}) waits for a person: ${doubts.join("; ")}`),
  ];
}

/** Resolves when a plan is running that was accepted after this time. @throws {NoPlanAcceptedError} */
async function takesPlans(
  { name }: KillableSystem,
  clients: Clients,
  { since, killed }: { since: number; killed: string },
): Promise<void> {
  const deadlineAt = performance.now() + MAX_RECOVERY_MS;
  while (!clients.running().some(({ acceptedAt }) => acceptedAt > since)) {
    if (performance.now() > deadlineAt) throw new NoPlanAcceptedError({ system: name, killed });
    await delay(5);
  }
}

interface Settings {
  kills: number;
  peerKills: number;
  inFlight: number;
  seed: number;
  keep: boolean;
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
function readSettings(args: readonly string[]): Settings {
  return developerCommand(
    "bench -- kills",
    "Kills processes with SIGKILL while plans run, and counts what was recovered, lost and doubled.",
  )
    .option("--kills <number>", "of processes of Planwright", wholeNumberOption(2, 100_000), 1_000)
    .option(
      "--peer-kills <number>",
      "of processes of DBOS; 0: not measured",
      wholeNumberOption(0, 100_000),
      300,
    )
    .option("--in-flight <number>", "plans at a time", wholeNumberOption(1, 64), 8)
    .option("--seed <number>", "of the targets and times", wholeNumberOption(0, 2 ** 31), 1)
    .option("--keep", "keep data, logs and ledgers", false)
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}

const { kills, peerKills, inFlight, seed, keep, json } = readSettings(process.argv.slice(2));
const folder = await mkdtemp(join(tmpdir(), "planwright-kills-"));
await chmod(folder, 0o755); // PostgreSQL refuses to run as root, so it runs as another user

type Start = (options: KillableOptions) => Promise<KillableSystem>;

async function measureOne(name: string, start: Start, count: number): Promise<Measured> {
  const ends: UnexpectedEnd[] = [];
  const onUnexpectedEnd = (end: UnexpectedEnd): void => {
    ends.push(end);
    say(`${end.name}: ${end.how.split("\n", 1)[0]}`);
  };
  const system = await start({ dataDir: join(folder, name), onUnexpectedEnd });
  try {
    const random = createRandom(seed, name);
    const measured = await measure(system, { count, inFlight, random });
    return { ...measured, unexpectedEnds: ends.length };
  } finally {
    await system.close();
  }
}

async function measureAll(): Promise<Measured[]> {
  const half = Math.floor(kills / 2);
  const ours = [
    await measureOne("together", (options) => startKillablePlanwright(true, options), kills - half),
    await measureOne("apart", (options) => startKillablePlanwright(false, options), half),
  ];
  if (peerKills === 0) return ours;
  const installed = installPeers();
  const peer = await measureOne("dbos", (options) => startKillableDbos({ ...options, installed }), peerKills);
  return [...ours, peer];
}

function tableOf(measured: readonly Measured[]): string[] {
  const columns = measured.flatMap(({ name, figures, byTool }) =>
    Object.keys(byTool).length === 1
      ? [{ name, figures }]
      : Object.entries(byTool).map(([tool, of]) => ({ name: `${name}, ${tool}`, figures: of })),
  );
  const rows: readonly (readonly [string, (figures: KillFigures) => number])[] = [
    ["kills", ({ kills: count }) => count],
    ["plans", ({ plans }) => plans],
    ["in flight at a kill", (figures) => figures.inFlight],
    ["recovered", ({ recovered }) => recovered],
    ["wait for a person", ({ waits }) => waits],
    ["in doubt, without effect", ({ inDoubtWithout }) => inDoubtWithout],
    ["in doubt, with effect", ({ inDoubtWith }) => inDoubtWith],
    ["failed", ({ failed }) => failed],
    ["lost", ({ lost }) => lost],
    ["effects doubled", ({ doubled }) => doubled],
    ["time to recover, p50 ms", ({ recoverP50Ms }) => recoverP50Ms],
    ["time to recover, p99 ms", ({ recoverP99Ms }) => recoverP99Ms],
  ];
  return alignColumns([
    ["", ...columns.map(({ name }) => name)],
    ...rows.map(([row, read]) => [row, ...columns.map(({ figures }) => String(read(figures)))]),
  ]);
}

let isBroken = true;
try {
  const measured = await measureAll();
  const runtime = { node: process.version, cores: availableParallelism(), loadAverage: loadavg() };
  isBroken = measured.some(({ name, figures }) => name !== "DBOS" && figures.lost + figures.doubled > 0);
  if (json) printJson({ runtime, seed, inFlight, measured });
  else {
    for (const line of tableOf(measured)) print(line);
    print(`Node ${runtime.node}, ${runtime.cores} cores, load average ${loadavg()[0]?.toFixed(1)}`);
  }
} finally {
  if (keep || isBroken) say(`Data, logs and ledgers: ${folder}`);
  else await rm(folder, { recursive: true, force: true });
}
process.exitCode = isBroken ? 1 : 0;
