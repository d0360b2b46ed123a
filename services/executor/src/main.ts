import { createQueues } from "@planwright/queue";
import { readOrExit, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { readExecutor } from "./start-executor.ts";

const executor = await readOrExit(() => readExecutor(process.env), process);
await runRoles([executor], { service: "executor", createStore, createQueues });
