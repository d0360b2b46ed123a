/** Checks the settings of the planner without starting it. */
import { createDrafter } from "@planwright/models";
import { parseSettings, runSettingsCheck } from "@planwright/runtime";
import { PlannerSettingsSchema } from "../env.ts";
import { readPrices } from "../read-prices.ts";

await runSettingsCheck(async () => {
  const settings = parseSettings(PlannerSettingsSchema, process.env);
  createDrafter(settings);
  await readPrices(settings);
});
