import {
  developerCommand,
  numberOption,
  wholeNumberOption,
  wordsOption,
} from "../../command/developer-command.ts";
import { TASKS } from "./tasks.ts";

/** Options of the command line; durations in milliseconds. */
export interface Settings {
  firstTokenMs: number;
  promptTokenMs: number;
  outputTokenMs: number;
  toolMs: number;
  repeats: number;
  /** Names of tasks; all when empty. */
  only: string[];
  json: boolean;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
export function readSettings(args: readonly string[]): Settings {
  return developerCommand("bench -- model", "Compares plans with loops that ask the model for each call.")
    .option("--first-token-ms <ms>", "until a model begins its answer", numberOption(60_000, 0), 500)
    .option("--prompt-token-ms <ms>", "to read one token of a prompt", numberOption(1_000, 0), 0.1)
    .option("--output-token-ms <ms>", "to write one token", numberOption(1_000, 0), 12.5)
    .option("--tool-ms <ms>", "that a tool takes", wholeNumberOption(0, 60_000), 800)
    .option("--repeats <number>", "of each task", wholeNumberOption(1, 100), 3)
    .option("--only <task...>", "measure nothing else", wordsOption(TASKS.map(({ name }) => name)), [])
    .option("--json", "print the figures as JSON, last", false)
    .parse(args, { from: "user" })
    .opts<Settings>();
}
