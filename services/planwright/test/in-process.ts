/** Roles in the process of a test. Tests load this as a bundle: `startSystem` of packages/testing. */
import { createQueues } from "@planwright/queue";
import { type RolesHost, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { readProcess } from "../src/env.ts";

/** Starts roles with the settings of the host; resolves when all take work. */
export function runInProcess(roles: readonly string[], host: RolesHost): ReturnType<typeof runRoles> {
  return readProcess(["--roles", roles.join()], host.env).then(({ roles: read, healthPort }) =>
    runRoles(read, { service: "planwright", healthPort, createStore, createQueues, host }),
  );
}
