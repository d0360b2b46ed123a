import { readOrExit, runRoles } from "@planwright/runtime";
import { runChecks } from "./check.ts";
import { composed } from "./composed.ts";
import { readArguments, readProcess } from "./env.ts";

const { check, roles: names } = await readOrExit(() => readArguments(process.argv.slice(2)), process);
if (check) {
  await runChecks(check, process.env, (found) => process.stdout.write(`${JSON.stringify(found)}\n`));
} else {
  const { roles, healthPort, isAlone } = await readOrExit(() => readProcess(names, process.env), process);
  const [role, ...others] = roles;
  const service = others.length === 0 ? role.name : "planwright";
  await runRoles(roles, { service, healthPort, ...composed(roles, { healthPort, isAlone }) });
}
