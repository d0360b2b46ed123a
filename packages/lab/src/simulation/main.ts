/**
 * npm run simulate -- --seeds 10000 [--from 1]   simulates seeds on all cores
 * npm run simulate -- --seed 1234 [--trace]      replays one seed, with all of its events
 * npm run simulate -- --mutants                  plants faults and prints after how many seeds each was found
 * npm run simulate -- --mutant NAME              the same for one fault
 * npm run simulate -- --seed 12 --mutant NAME    replays one seed with a planted fault
 *
 * The exit code is 1 when an invariant is violated, or when a planted fault is not found.
 */
import { developerCommand, wholeNumberOption, wordOption } from "../command/developer-command.ts";
import { print } from "../report/output.ts";
import { INVARIANTS } from "./checker/invariants.ts";
import { hunt } from "./hunt.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { MUTANTS } from "./mutants/mutants.ts";
import { runSeeds } from "./run-seeds.ts";
import { type SeedResult, simulateSeed } from "./simulate-seed.ts";

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
