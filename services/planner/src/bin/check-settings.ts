/** Checks the settings of the planner without starting it. */
import { createDrafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { parseSettings, runSettingsCheck } from "@planwright/runtime";
import { PlannerSettingsSchema } from "../env.ts";
import { readPrices } from "../read-prices.ts";

await runSettingsCheck(async () => {
  const settings = parseSettings(PlannerSettingsSchema, process.env);
  createDrafter(settings, createOfflineDrafter);
  await readPrices(settings);
});
