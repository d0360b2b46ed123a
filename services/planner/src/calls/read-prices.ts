import { readFile } from "node:fs/promises";
import { createPriceList, type PriceList, PricesInvalidError } from "@planwright/models";

/** The settings that prices depend on. */
type PriceSettings = Parameters<typeof createPriceList>[0] & { MODEL_PRICES_FILE?: string | undefined };

/**
 * Prices of models, from MODEL_PRICES_FILE and the table of `@planwright/models`.
 * @throws {PricesInvalidError}
 */
export async function readPrices(settings: PriceSettings): Promise<PriceList> {
  const file = settings.MODEL_PRICES_FILE;
  return createPriceList(settings, file === undefined ? undefined : await readPricesFile(file));
}

async function readPricesFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new PricesInvalidError(`${file} cannot be read${why}`, error);
  }
}
