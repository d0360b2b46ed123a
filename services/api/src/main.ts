import { createQueues } from "@planwright/queue";
import { readOrExit, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { readApi } from "./start-api.ts";

const api = await readOrExit(() => readApi(process.env), process);
await runRoles([api], { service: "api", createStore, createQueues });
