/** Checks the settings of the executor, including its servers file, without starting it. */
import { runSettingsCheck } from "@planwright/runtime";
import { readExecutorSettings } from "../env.ts";

await runSettingsCheck(() => readExecutorSettings(process.env));
