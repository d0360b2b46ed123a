import { readFile } from "node:fs/promises";
import { createPriceList, type PriceList } from "@planwright/models";
import type { PlannerSettings } from "./env.ts";

/** What models cost, by MODEL_PRICES_FILE and the table of `@planwright/models`. @throws {PricesInvalidError} */
export async function readPrices(settings: PlannerSettings): Promise<PriceList> {
  const file = settings.MODEL_PRICES_FILE;
  return createPriceList(settings, file === undefined ? undefined : await readFile(file, "utf8"));
}
