import { CodedError } from "@planwright/plan";
import { z } from "zod";

/** The environment holds settings that cannot be used. Names every bad variable at once, never a value: it may be a secret. */
export class SettingsError extends CodedError<{ variables: string[] }> {
  readonly code = "INVALID_SETTINGS";
  readonly retryable = false;
  constructor(problems: readonly { variable: string; problem: string }[]) {
    const lines = problems.map(({ variable, problem }) => `  ${variable}: ${problem}`);
    super(`These environment variables must be set right first:\n${lines.join("\n")}`, {
      variables: [...new Set(problems.map(({ variable }) => variable))],
    });
  }
}

/**
 * Reads the settings of a service from its environment.
 * An empty variable counts as absent, because compose files and shells write `NAME=` for "not set".
 * @throws {SettingsError} naming every variable that is missing or wrong
 */
export function parseSettings<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value !== "") given[name] = value;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const variable = String(issue.path[0] ?? "environment");
    const isMissing = issue.path.length > 0 && !Object.hasOwn(given, variable);
    return { variable, problem: isMissing ? "is missing" : issue.message };
  });
  throw new SettingsError(problems);
}
