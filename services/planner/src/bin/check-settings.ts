/** Checks the settings of the planner without starting it. */
import { createDrafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { parseSettings, runSettingsCheck } from "@planwright/runtime";
import { readPrices } from "../calls/read-prices.ts";
import { PlannerSettingsSchema } from "../env.ts";

await runSettingsCheck(async () => {
  const settings = parseSettings(PlannerSettingsSchema, process.env);
  createDrafter(settings, createOfflineDrafter);
  await readPrices(settings);
});
