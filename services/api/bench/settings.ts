import { developerCommand, wholeNumberOption } from "@planwright/testing";

/** What a run is asked to do. */
export interface Settings {
  clients: number;
  plans: number;
  subscribers: number;
  events: number;
  seconds: number;
  submissions: number;
  /** Names of measurements; all when empty. */
  only: string[];
  json: boolean;
}

/** Reads the command line; ends the process when there is something wrong with it, and after `--help`. */
export function readSettings(args: readonly string[]): Settings {
  return developerCommand("bench -- api", "Measures polls, subscriptions and submissions against a real API.")
    .option("--clients <number>", "clients that poll", wholeNumberOption(1, 10_000), 1_000)
    .option("--plans <number>", "plans that are polled", wholeNumberOption(1, 10_000), 200)
    .option("--subscribers <number>", "clients that follow one request", wholeNumberOption(1, 10_000), 1_000)
    .option("--events <number>", "changes that they are told of", wholeNumberOption(1, 1_000), 50)
    .option("--seconds <number>", "of polling", wholeNumberOption(1, 600), 10)
    .option("--submissions <number>", "plans that are submitted", wholeNumberOption(1, 100_000), 1_000)
    .option("--only <measurement...>", "measure nothing else", [])
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}
