import { developerCommand, wholeNumberOption } from "../../command/developer-command.ts";

/** Options of the command line. */
export interface Settings {
  /** Duration of each measurement. */
  seconds: number;
  clients: number;
  rounds: number;
  peers: boolean;
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
export function readSettings(args: readonly string[]): Settings {
  return developerCommand(
    "bench -- system",
    "Measures plans from the HTTP request to their end; with --peers those of Restate and DBOS too.",
  )
    .option("--seconds <number>", "of each measurement", wholeNumberOption(1, 600), 10)
    .option("--clients <number>", "plans in flight, beside one alone", wholeNumberOption(2, 1_000), 64)
    .option("--rounds <number>", "of which the medians are shown", wholeNumberOption(1, 100), 3)
    .option("--peers", "install Restate and DBOS from npm, and measure them in turns with Planwright", false)
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}
