import { developerCommand, wholeNumberOption } from "../../command/developer-command.ts";

interface Options {
  plans: number;
  faults: number;
  seed: number;
  json: boolean;
  keep: boolean;
}

/** What a run is asked to do. */
export type Settings = Options & {
  /** Plans are submitted and faults begin within this time, in milliseconds. */
  withinMs: number;
  /** Silence after which a worker is declared dead, in milliseconds. */
  deadAfterMs: number;
  /** Longest a plan may take, in milliseconds. */
  planTimeoutMs: number;
};

/** Time for one fault and for one plan, in milliseconds. */
const FAULT_EVERY_MS = 2_500;
const PLAN_EVERY_MS = 350;

/** Reads the command line; ends the process when there is something wrong with it, and after `--help`. */
export function readSettings(args: readonly string[]): Settings {
  const options = developerCommand(
    "chaos",
    "Runs the whole system as processes under faults, and checks the result.",
  )
    .option("--plans <number>", "plans to submit", wholeNumberOption(1, 100_000), 200)
    .option("--faults <number>", "faults to make", wholeNumberOption(0, 10_000), 30)
    .option("--seed <number>", "fixes plans, faults and their times", wholeNumberOption(0, 4_294_967_295), 7)
    .option("--json", "print the report as JSON, last", false)
    .option("--keep", "keep data and logs even when nothing is wrong", false)
    .parse(args, { from: "user" })
    .opts<Options>();
  const withinMs = Math.max(options.faults * FAULT_EVERY_MS, options.plans * PLAN_EVERY_MS);
  return { ...options, withinMs, deadAfterMs: 2_000, planTimeoutMs: 90_000 };
}
