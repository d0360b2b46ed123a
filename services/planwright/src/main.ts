import { createQueues } from "@planwright/queue";
import { readOrExit, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { readProcess } from "./env.ts";

const { roles, healthPort } = await readOrExit(
  () => readProcess(process.argv.slice(2), process.env),
  process,
);
const [role, ...others] = roles;
const service = others.length === 0 ? role.name : "planwright";
await runRoles(roles, { service, healthPort, createStore, createQueues });
