/** Checks the settings of the planner without starting it. */
import { runSettingsCheck } from "@planwright/runtime";
import { readPlannerSettings } from "../env.ts";

await runSettingsCheck(() => readPlannerSettings(process.env));
