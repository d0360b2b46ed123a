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
}

/** Reads the command line. @throws {SettingsInvalidError} what is wrong with it */
export function readSettings(args: readonly string[]): Settings {
  const values = parse(args);
  return { ...values, model: values.model ?? null, domain: values.domain ?? null };
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
      },
    });
    return values;
  } catch (error) {
    if (error instanceof TypeError) throw new SettingsInvalidError({ reason: error.message }, error);
    throw error;
  }
}
