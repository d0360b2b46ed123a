import { CodedError } from "@planwright/plan";
import { developerCommand, numberOption } from "../command/developer-command.ts";

/** An option names something that does not exist. */
export class SettingsInvalidError extends CodedError<{ reason: string }> {
  readonly code = "SETTINGS_INVALID";
  readonly retryable = false;
  constructor(facts: { reason: string }) {
    super(facts.reason, facts);
  }
}

/** Options of the command line. */
export interface Settings {
  /**
   * A model to ask instead of playing recorded answers, such as "openai:gpt-4.1-mini"; null: recorded
   * answers.
   */
  model: string | null;
  /** The only catalogue to play, without comparison with the baseline; null: all. */
  domain: string | null;
  /** Writes the figures as the new baseline. */
  update: boolean;
  /** Prints the report as JSON in the last line. */
  json: boolean;
  /** A longer run exits with 1; null: no limit. */
  maxSeconds: number | null;
}

/** Reads the command line. Ends the process when an option is wrong, and after `--help`. */
export function readSettings(args: readonly string[]): Settings {
  const options = developerCommand(
    "evals",
    "Plays recorded answers of models, and compares the plans with the wanted ones.",
  )
    .option("--model <provider:model>", "ask this model instead, such as openai:gpt-4.1-mini")
    .option("--domain <name>", "only this catalogue, without comparison with the baseline")
    .option("--update", "write the figures as the new baseline", false)
    .option("--json", "print the report as JSON, last", false)
    .option("--max-seconds <number>", "exit with 1 when it takes longer", numberOption(86_400))
    .parse(args, { from: "user" })
    .opts<Pick<Settings, "update" | "json"> & Partial<Settings>>();
  return { model: null, domain: null, maxSeconds: null, ...options };
}
