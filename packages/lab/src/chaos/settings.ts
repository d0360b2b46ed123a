import { developerCommand, wholeNumberOption, wordOption } from "../command/developer-command.ts";
import type { Layout } from "./system.ts";

interface Options {
  plans: number;
  faults: number;
  seed: number;
  layout?: Layout;
  json: boolean;
  keep: boolean;
}

/** Options of a run. */
export type ChaosSettings = Options & {
  layout: Layout;
  /** Plans are submitted and faults begin within this time, in milliseconds. */
  withinMs: number;
  /** A worker without heartbeats for this time is declared dead, in milliseconds. */
  deadAfterMs: number;
  /** Maximum duration of a plan, in milliseconds. */
  planTimeoutMs: number;
};

/** Time for each fault and for each plan, in milliseconds. */
const FAULT_EVERY_MS = 2_500;
const PLAN_EVERY_MS = 350;

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
export function readSettings(args: readonly string[]): ChaosSettings {
  const options = developerCommand(
    "chaos",
    "Runs the whole system as processes under faults, and checks the result.",
  )
    .option("--plans <number>", "plans to submit", wholeNumberOption(1, 100_000), 200)
    .option("--faults <number>", "faults to inject", wholeNumberOption(0, 10_000), 30)
    .option("--seed <number>", "fixes plans, faults and their times", wholeNumberOption(0, 4_294_967_295), 7)
    .option("--layout <layout>", "apart or composed; default: by the seed", wordOption(["apart", "composed"]))
    .option("--json", "print the report as JSON, last", false)
    .option("--keep", "keep data and logs also without violations", false)
    .parse(args, { from: "user" })
    .opts<Options>();
  const withinMs = Math.max(options.faults * FAULT_EVERY_MS, options.plans * PLAN_EVERY_MS);
  const { layout = options.seed % 2 === 0 ? "composed" : "apart" } = options;
  return { ...options, layout, withinMs, deadAfterMs: 2_000, planTimeoutMs: 90_000 };
}
