import { readOrExit, runRoles } from "@planwright/runtime";
import { composed } from "./composed.ts";
import { readProcess } from "./env.ts";

const { roles, healthPort, isAlone } = await readOrExit(
  () => readProcess(process.argv.slice(2), process.env),
  process,
);
const [role, ...others] = roles;
const service = others.length === 0 ? role.name : "planwright";
await runRoles(roles, { service, healthPort, ...composed(roles, { healthPort, isAlone }) });
