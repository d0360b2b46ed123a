import { parseArgs } from "node:util";
import { CodedError } from "@planwright/plan";

/** The command line asks for something that is not there. */
export class SettingsInvalidError extends CodedError<{ reason: string }> {
  readonly code = "SETTINGS_INVALID";
  readonly retryable = false;
  constructor(facts: { reason: string }, cause?: unknown) {
    super(facts.reason, facts, { cause });
  }
}

/** What a run is asked to do. */
export interface Settings {
  /** A model to ask instead of playing recorded answers, such as "openai:gpt-4.1-mini". */
  model: string | null;
  /** Only this catalogue; without comparison with the baseline. */
  domain: string | null;
  /** Write the figures down as the new baseline. */
  update: boolean;
  /** The report as JSON in the last line. */
  json: boolean;
  /** A run that takes longer ends with 1; null: it may take as long as it does. */
  maxSeconds: number | null;
}

/** Reads the command line. @throws {SettingsInvalidError} what is wrong with it */
export function readSettings(args: readonly string[]): Settings {
  const { model = null, domain = null, update, json, "max-seconds": seconds } = parse(args);
  return { model, domain, update, json, maxSeconds: seconds === undefined ? null : secondsOf(seconds) };
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new SettingsInvalidError({ reason: `--max-seconds is a number above 0, and not "${text}"` });
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        model: { type: "string" },
        domain: { type: "string" },
        update: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        "max-seconds": { type: "string" },
      },
    });
    return values;
  } catch (error) {
    if (error instanceof TypeError) throw new SettingsInvalidError({ reason: error.message }, error);
    throw error;
  }
}
