import { createQueues } from "@planwright/queue";
import { readOrExit, runRoles } from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { readPlanner } from "./start-planner.ts";

const planner = await readOrExit(() => readPlanner(process.env), process);
await runRoles([planner], { service: "planner", createStore, createQueues });
