import { isJsonObject, isTimezone, type JsonObject, JsonValueSchema, parseExactJson } from "@planwright/plan";
import { UsageError } from "../errors.ts";
import { readJsonFile } from "./read-json-file.ts";

/** Options for planning a sentence. */
export interface SentenceOptions {
  /** A file, or a JSON object. */
  context?: string;
  timezone?: string;
  profile?: string;
  /** A file, or a JSON object. */
  policy?: string;
}

/** The options as variables of the mutation. @throws {UsageError} */
export async function sentenceVariables(
  { context, timezone, profile, policy }: SentenceOptions,
  signal: AbortSignal,
) {
  const given = context === undefined ? {} : await objectOf("--context", context, signal);
  return {
    context: { ...terminalZone(), ...given, ...(timezone === undefined ? {} : { timezone }) },
    profile,
    policy: policy === undefined ? undefined : await objectOf("--policy", policy, signal),
  };
}

/** The terminal's time zone, if the system gives its name. */
function terminalZone(): { timezone?: string } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return isTimezone(timeZone) ? { timezone: timeZone } : {};
}

/** The object that the user typed, or the content of the file that the user named. */
async function objectOf(option: string, typed: string, signal: AbortSignal): Promise<JsonObject> {
  const value = typed.trimStart().startsWith("{") ? parsed(option, typed) : await readJsonFile(typed, signal);
  if (isJsonObject(value)) return value;
  throw new UsageError(`${option} is not a JSON object`);
}

function parsed(option: string, text: string): unknown {
  try {
    return JsonValueSchema.parse(parseExactJson(text));
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${error instanceof Error ? error.message : ""}`, error);
  }
}
