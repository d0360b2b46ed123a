/**
 * npm run simulate -- --seeds 10000 [--from 1]   simulates seeds on all cores
 * npm run simulate -- --seed 1234 [--trace]      replays one seed, with all of its events
 * npm run simulate -- --mutants                  plants faults and prints after how many seeds each was found
 * npm run simulate -- --mutant NAME              the same for one fault
 * npm run simulate -- --seed 12 --mutant NAME    replays one seed with a planted fault
 *
 * The exit code is 1 when an invariant is violated, or when a planted fault is not found.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { developerCommand, print, wholeNumberOption, wordOption } from "../command/developer-command.ts";
import { INVARIANTS } from "./checker/invariants.ts";
import { hunt } from "./hunt.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { MUTANTS } from "./mutants/mutants.ts";
import type { RangeReport } from "./seed-worker.ts";
import { type SeedResult, simulateSeed } from "./simulate-seed.ts";

/** Number of seeds that a worker simulates at a time. */
const RANGE = 50;
/** Number of failures after which the run stops: more of them show nothing new. */
const MAX_FAILURES = 5;
/** Most objects of a simulation live for only one event. A large young generation avoids copying them. */
const WORKER_OPTIONS = ["--max-semi-space-size=64"];

/** Simulates seeds in one process for each core; stops early after some failures. */
async function runSeeds({ from, count }: { from: number; count: number }): Promise<RangeReport> {
  const total: RangeReport = { seeds: 0, events: 0, simulatedMs: 0, failures: [] };
  let next = from;

  async function work(worker: ChildProcess): Promise<void> {
    while (next < from + count && total.failures.length < MAX_FAILURES) {
      const range = { from: next, to: Math.min(next + RANGE, from + count) };
      next = range.to;
      worker.send(range);
      const report = await answerOf(worker, range);
      total.seeds += report.seeds;
      total.events += report.events;
      total.simulatedMs += report.simulatedMs;
      total.failures.push(...report.failures);
    }
    worker.disconnect();
  }

  const file = fileURLToPath(new URL("seed-worker.ts", import.meta.url));
  const workers = Array.from({ length: Math.min(availableParallelism(), Math.ceil(count / RANGE)) }, () =>
    fork(file, { execArgv: [...process.execArgv, ...WORKER_OPTIONS], serialization: "advanced" }),
  );
  try {
    await Promise.all(workers.map(work));
  } finally {
    for (const worker of workers) worker.kill();
  }
  total.failures.sort((a, b) => a.seed - b.seed);
  return total;
}

/** @throws {WorkerDiedError} */
async function answerOf(worker: ChildProcess, range: { from: number; to: number }): Promise<RangeReport> {
  const answered = new AbortController();
  const { signal } = answered;
  const died = once(worker, "exit", { signal }).then((): never => {
    throw new WorkerDiedError(range);
  });
  // Prevents an unhandled rejection: the wait is aborted when the answer comes first.
  died.catch(() => undefined);
  const [report] = await Promise.race([once(worker, "message", { signal }), died]);
  answered.abort();
  return report;
}

/** A worker process ended during a range: one of its seeds threw an error that nothing caught. */
class WorkerDiedError extends TypeError {
  constructor({ from, to }: { from: number; to: number }) {
    super(`A worker process ended within the seeds ${from} to ${to - 1}; replay them one by one with --seed`);
  }
}

const wholeNumber = wholeNumberOption(0, 4_294_967_295);
const values = developerCommand(
  "simulate",
  "Simulates crashes, delays and reorderings on a fake clock, drawn from a seed.",
)
  .option("--seeds <number>", "number of seeds to simulate, on all cores", wholeNumber, 1_000)
  .option("--from <seed>", "the first of these seeds", wholeNumber, 1)
  .option("--seed <seed>", "replay only this seed", wholeNumber)
  .option("--trace", "print all of its events", false)
  .option(
    "--mutant <name>",
    "plant this fault: search for a seed that shows it, or replay the seed of --seed",
    wordOption(MUTANTS.map(({ name }) => name)),
  )
  .option("--mutants", "plant each fault, and print after how many seeds it was found", false)
  .parse()
  .opts<{
    seeds: number;
    from: number;
    seed?: number;
    trace: boolean;
    mutant?: string;
    mutants: boolean;
  }>();

const named = MUTANTS.filter(({ name }) => name === values.mutant);
if (values.mutants) await runMutants(MUTANTS);
else if (values.seed === undefined && named.length > 0) await runMutants(named);
else if (values.seed !== undefined) await replay(values.seed);
else await runAll(values.from, values.seeds);

async function runAll(from: number, count: number): Promise<void> {
  const startedAt = performance.now();
  const { seeds, events, simulatedMs, failures } = await runSeeds({ from, count });
  for (const failure of failures) report(failure);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  print(`${seeds} seeds, ${events} events, ${hours} h of simulated time in ${seconds} s`);
  print(failures.length === 0 ? "Every invariant held." : `${failures.length} seeds violated an invariant.`);
  if (failures.length > 0) process.exitCode = 1;
}

async function replay(seed: number): Promise<void> {
  const keptEvents = values.trace ? 1_000_000 : undefined;
  const [mutant] = named;
  const result = await simulateSeed(seed, { keptEvents, mutant });
  if (result.violation) report(result);
  else {
    if (values.trace) print(result.log.join("\n"));
    print(
      `Seed ${seed}: ${result.events} events, ${result.endedAt} ms, hash ${result.hash}. Every invariant held.`,
    );
  }
  if (result.violation) process.exitCode = 1;
}

async function runMutants(mutants: readonly Mutant[]): Promise<void> {
  for (const mutant of mutants) {
    const { seeds, result } = await hunt(mutant);
    const invariant = result?.violation?.invariant;
    const isRight = invariant !== undefined && mutant.violates.includes(invariant);
    print(
      `${isRight ? "caught" : "MISSED"}  ${mutant.name.padEnd(32)} after ${seeds} seeds: ${invariant ?? "nothing"}`,
    );
    if (!isRight) process.exitCode = 1;
  }
}

function report({ seed, violation, log }: SeedResult): void {
  if (!violation) return;
  print(log.join("\n"));
  print(`\nSeed ${seed} violates ${violation.invariant} (${INVARIANTS[violation.invariant]}):`);
  print(`  at ${violation.at} ms: ${violation.message}`);
  print(`  replay: npm run simulate -- --seed ${seed}\n`);
}
