import { developerCommand, wholeNumberOption, wordsOption } from "../../command/developer-command.ts";

/** Concurrent mutations in the second measurement of each kind. */
export const AT_ONCE = 32;

const MEASUREMENTS = [
  "statusPolls",
  "stepPolls",
  "statusPollsOncePerSecond",
  "serverSentEvents",
  "webSockets",
  "createPlanAlone",
  `createPlan${AT_ONCE}AtOnce`,
  "submitPlanAlone",
  `submitPlan${AT_ONCE}AtOnce`,
  "heavy",
  "overload",
] as const;
/** The name of a measurement in `--only` and in the results. */
export type Measurement = (typeof MEASUREMENTS)[number];

/** Options of the command line. */
export interface Settings {
  clients: number;
  plans: number;
  subscribers: number;
  events: number;
  seconds: number;
  submissions: number;
  attackers: number;
  /** All when empty. */
  only: Measurement[];
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
export function readSettings(args: readonly string[]): Settings {
  return developerCommand("bench -- api", "Measures polls, subscriptions and submissions against a real API.")
    .option("--clients <number>", "clients that poll", wholeNumberOption(1, 10_000), 1_000)
    .option("--plans <number>", "plans that are polled", wholeNumberOption(1, 10_000), 200)
    .option("--subscribers <number>", "clients that follow one request", wholeNumberOption(1, 10_000), 1_000)
    .option("--events <number>", "changes that they receive", wholeNumberOption(1, 1_000), 50)
    .option("--seconds <number>", "of polling", wholeNumberOption(1, 600), 10)
    .option("--submissions <number>", "plans that are submitted", wholeNumberOption(1, 100_000), 1_000)
    .option("--attackers <number>", "lists with large outputs at once", wholeNumberOption(1, 1_000), 30)
    .option("--only <measurement...>", "measure nothing else", wordsOption(MEASUREMENTS), [])
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}
