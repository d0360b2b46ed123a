import { parseArgs } from "node:util";
import { readApi } from "@planwright/api";
import { readExecutor } from "@planwright/executor";
import { CodedError } from "@planwright/plan";
import { readPlanner } from "@planwright/planner";
import { parseSettings, RedisUrlSchema, SettingsError } from "@planwright/runtime";
import { z } from "zod";
import { CHECK_NAMES } from "./check.ts";

/** Settings of the process itself. Its roles read theirs from the same environment. */
export const PlanwrightSettingsSchema = z.object({
  /** Port of /healthz, /readyz and /metrics of the process. */
  HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
  /** Redis; without it the process works alone, with all roles. */
  REDIS_URL: RedisUrlSchema.optional(),
});

/** Reads the settings of each role. */
const READERS = { api: readApi, planner: readPlanner, executor: readExecutor };
type RoleName = keyof typeof READERS;
const ALL = Object.keys(READERS).join(",");

/** A role with its settings. */
export type AnyRole = Awaited<ReturnType<(typeof READERS)[RoleName]>>;

/** An option or a setting cannot be used. The message names the role that reads it. */
class RoleNotReadError extends CodedError<{ role?: string }> {
  readonly code = "ROLE_NOT_READ";
  readonly retryable = false;
}

/**
 * Reads what the process runs: these roles with their settings, and the settings of the process.
 * @throws {RoleNotReadError} for the first role with a setting that cannot work
 */
export async function readProcess(
  { roles: [first, ...others], processes }: Omit<Arguments, "check">,
  env: NodeJS.ProcessEnv,
): Promise<{ roles: [AnyRole, ...AnyRole[]]; healthPort: number; isAlone: boolean }> {
  const { HEALTH_PORT: healthPort, REDIS_URL } = parseSettings(PlanwrightSettingsSchema, env);
  if (processes > 1 && REDIS_URL === undefined) {
    const problem = `is missing: ${processes} processes need Redis to share limits and work`;
    throw new SettingsError([{ variable: "REDIS_URL", problem }]);
  }
  const isAlone = REDIS_URL === undefined && others.length + 1 === Object.keys(READERS).length;
  const read = async (name: RoleName): Promise<AnyRole> => {
    try {
      return await READERS[name](env, { isAlone });
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      throw new RoleNotReadError(`${name}: ${error.message}`, { role: name }, { cause: error });
    }
  };
  const roles: [AnyRole, ...AnyRole[]] = [await read(first)];
  for (const name of others) roles.push(await read(name));
  return { roles, healthPort, isAlone };
}

/** What the command line says. */
interface Arguments {
  /** The roles to run, at least one. */
  roles: [RoleName, ...RoleName[]];
  /** How many processes run them. */
  processes: number;
  /** What to check instead. */
  check?: string[];
}

/** Most processes of one start. */
const MAX_PROCESSES = 64;

/** Reads the command line. @throws {RoleNotReadError} */
export function readArguments(args: string[]): Arguments {
  const options = {
    roles: { type: "string", default: ALL },
    processes: { type: "string", default: "1" },
    check: { type: "string" },
  } as const;
  let values: { roles: string; processes: string; check?: string | undefined };
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new RoleNotReadError(
      `${error instanceof Error ? error.message : String(error)}; use --roles ${ALL}`,
      {},
    );
  }
  const [first = "api", ...others] = namesOf("--roles", values.roles, Object.keys(READERS)).filter(isRole);
  const check = values.check === undefined ? {} : { check: namesOf("--check", values.check, CHECK_NAMES) };
  const processes = /^\d{1,2}$/.test(values.processes) ? Number(values.processes) : 0;
  if (processes < 1 || processes > MAX_PROCESSES)
    throw new RoleNotReadError(
      `--processes is "${values.processes}": use a whole number from 1 to ${MAX_PROCESSES}`,
      {},
    );
  return { roles: [first, ...others], processes, ...check };
}

/** @throws {RoleNotReadError} for a name that is not one of these */
function namesOf(option: string, text: string, known: readonly string[]): string[] {
  const names = [...new Set(text.split(","))];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new RoleNotReadError(
    `${option} has "${unknown}": use one or more of ${known.join(",")}, with commas between them`,
    {},
  );
}

function isRole(name: string): name is RoleName {
  return Object.hasOwn(READERS, name);
}
