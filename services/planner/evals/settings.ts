import { parseArgs } from "node:util";

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

/** Reads the command line. @throws {TypeError} what is wrong with it */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      model: { type: "string" },
      domain: { type: "string" },
      update: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  return { ...values, model: values.model ?? null, domain: values.domain ?? null };
}
