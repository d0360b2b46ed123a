import { CodedError } from "@planwright/plan";
import { z } from "zod";
import { redactText } from "./redact.ts";

/**
 * The environment contains settings that cannot be used. The message has one line for every bad variable. A
 * value is shown only if a number or one of a few words is expected: any other value may be a secret.
 */
export class SettingsError extends CodedError<{ variables: string[] }> {
  readonly code = "INVALID_SETTINGS";
  readonly retryable = false;
  constructor(problems: readonly { variable: string; problem: string }[]) {
    const lines = problems.map(({ variable, problem }) => `  ${variable}: ${problem}`);
    const [only = ""] = lines;
    const message =
      lines.length === 1
        ? `Wrong setting in the environment: ${only.trim()}`
        : `These environment variables must be corrected:\n${lines.join("\n")}`;
    super(message, {
      variables: [...new Set(problems.map(({ variable }) => variable))],
    });
  }
}

/**
 * Reads the settings of a service from its environment.
 * An empty variable counts as absent, because compose files and shells write `NAME=` for "not set". So does one with
 * only white space, which would be the number 0.
 * @throws {SettingsError} naming every variable that is missing or wrong
 */
export function parseSettings<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.trim() !== "") given[name] = value;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const variable = String(issue.path[0] ?? "environment");
    const isMissing = issue.path.length > 0 && !Object.hasOwn(given, variable);
    return { variable, problem: isMissing ? "is missing" : problemOf(issue, given[variable]) };
  });
  throw new SettingsError(problems);
}

/** The process that ends when its settings cannot be used. */
type EndingProcess = Pick<NodeJS.Process, "exit"> & { stderr: { write(text: string): unknown } };

/**
 * The settings of a program. When they cannot be used, the process ends with exit code 1 and prints the
 * message of {@link SettingsError} on standard error.
 */
export function settingsOrExit<Schema extends z.ZodObject>(
  schema: Schema,
  process: Pick<NodeJS.Process, "env"> & EndingProcess,
): z.output<Schema> {
  try {
    return parseSettings(schema, process.env);
  } catch (error) {
    return exitWith(error, process);
  }
}

/**
 * Reads something that a setting refers to, such as a file. When that fails, the process ends as with {@link
 * settingsOrExit}. Must be called before the program starts anything that has to be stopped.
 * @param read - throws a CodedError, whose message names the setting, for a setting that cannot work; other
 *   errors are rethrown
 */
export async function readOrExit<T>(read: () => T | Promise<T>, process: EndingProcess): Promise<T> {
  try {
    return await read();
  } catch (error) {
    return exitWith(error, process);
  }
}

function exitWith(error: unknown, process: EndingProcess): never {
  if (!(error instanceof CodedError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return process.exit(1);
}

/** Longest part of a wrong value that is shown. */
const SHOWN = 40;

/** What is wrong with a value, and what would be valid. */
function problemOf(issue: z.core.$ZodIssue, value = ""): string {
  const shown = `is ${JSON.stringify(redactText(value.slice(0, SHOWN)))}, but must be`;
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "int") return `${shown} a whole number`;
      return issue.expected === "number" ? `${shown} a number` : issue.message;
    case "invalid_value":
      return `${shown} ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    case "too_small":
    case "too_big": {
      const bound = issue.code === "too_small" ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
      if (issue.origin === "number" || issue.origin === "int") return `${shown} ${bound}`;
      return `must have ${bound} ${issue.origin === "string" ? "characters" : "parts"}`;
    }
    case "invalid_format":
      return issue.format === "url" ? "must be an address such as https://example.org" : issue.message;
    default:
      return issue.message;
  }
}

const MONGODB_URL = /^mongodb(\+srv)?:\/\/[^\s/]+(\/\S*)?$/;
// A path, a scheme or a list would be stored as a name that no request ever has.
const HOST_NAME = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/;

/**
 * The address of MongoDB. It may name several hosts, so it is not a URL by the web's rules. It may contain a
 * password and is never shown.
 */
export const MongodbUrlSchema = z
  .string()
  .max(10_000)
  .regex(
    MONGODB_URL,
    "must be the address of MongoDB, such as mongodb://127.0.0.1:27017/planwright?replicaSet=rs0",
  );

/** The address of Redis. It may contain a password and is never shown. */
export const RedisUrlSchema = z
  .string()
  .max(10_000)
  .refine(isRedisUrl, "must be the address of Redis, such as redis://127.0.0.1:6379");

/** How a role reads its settings. */
export interface RoleOptions {
  /** True when its process works alone, without Redis. Default false. */
  isAlone?: boolean | undefined;
}

/** Replaces the settings of Redis in the schema of a role whose process works alone, without Redis. */
const WITHOUT_REDIS = { REDIS_URL: z.literal("").default("") };

/** {@link parseSettings} for a role, which also works without Redis when its process is alone. */
export function parseRoleSettings<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
  { isAlone = false }: RoleOptions,
): z.output<Schema> {
  const settings: unknown = parseSettings(isAlone ? schema.extend(WITHOUT_REDIS) : schema, env);
  // An empty address of Redis is a text too.
  return settings as z.output<Schema>;
}

/** A name by which clients reach a server, without scheme, port and path; IPv6 addresses in brackets. */
export const HostNameSchema = z
  .string()
  .max(255)
  .regex(
    HOST_NAME,
    "must be names of hosts with commas between them, such as tools.example.org: without http://, port and path",
  );

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return (protocol === "redis:" || protocol === "rediss:") && hostname !== "";
}

/**
 * Checks the settings of a service without starting it. Ends with exit code 0, or with 1 and one message on
 * standard error that says what to change. An error that is not a {@link CodedError} is a bug of the check
 * and is rethrown.
 * @param check - reads every setting that a start would read, and throws for one that cannot work
 */
export async function runSettingsCheck(check: () => unknown): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
