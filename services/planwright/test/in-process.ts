/** Roles in the process of a test. Tests load this as a bundle: `startSystem` of packages/testing. */
import { type RolesHost, runRoles } from "@planwright/runtime";
import { composed } from "../src/composed.ts";
import { readArguments, readProcess } from "../src/env.ts";

/** Starts roles with the settings of the host; resolves when all take work. */
export async function runInProcess(
  names: readonly string[],
  host: RolesHost,
): Promise<Awaited<ReturnType<typeof runRoles>>> {
  const { roles, healthPort, isAlone } = await readProcess(
    readArguments(["--roles", names.join()]),
    host.env,
  );
  return runRoles(roles, {
    service: "planwright",
    healthPort,
    ...composed(roles, { healthPort, isAlone }),
    host,
  });
}
