/** Checks the settings of the executor, including its servers file, without starting it. */
import { parseSettings, runSettingsCheck } from "@planwright/runtime";
import { loadServersFile } from "@planwright/tools";
import { ExecutorSettingsSchema } from "../env.ts";

await runSettingsCheck(async () => {
  const settings = parseSettings(ExecutorSettingsSchema, process.env);
  await loadServersFile(settings.MCP_SERVERS_FILE, process.env);
});
