import { createQueues } from "@planwright/queue";
import { readOrExit, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { readProcess } from "./env.ts";

const { roles, healthPort } = await readOrExit(
  () => readProcess(process.argv.slice(2), process.env),
  process,
);
await runRoles(roles, { service: "planwright", healthPort, createStore, createQueues });
