import { z } from "zod";
import { isProvider, PROVIDERS } from "../providers/provider.ts";
import type { ModelSettingsInput } from "../settings/model-setting.ts";
import { type ModelPrice, ModelPriceSchema } from "./model-price.ts";
import { PRICE_TABLE } from "./price-table.ts";
import { PricesInvalidError } from "./prices-invalid-error.ts";

/** What models cost. */
export interface PriceList {
  /** @param model - "provider:model"; null when its price is not known */
  priceOf(model: string): ModelPrice | null;
}

const OverridesSchema = z.record(z.string().regex(/^[a-z]+:.{1,200}$/), ModelPriceSchema);

/** Dated versions and aliases cost what the model does: gpt-4o-2024-08-06, claude-haiku-4-5-20251001, gemini-2.5-flash-latest. */
const VERSION = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/**
 * Prices from the table of this package and, before it, from `overrides`. The table speaks of the providers' own servers: for a server that is
 * named by a base URL only `overrides` counts.
 * @param overrides - JSON text `{"provider:model": {"input": 1, "cachedInput": 0.1, "output": 5}}`, in dollars for a million tokens
 * @throws {PricesInvalidError}
 */
export function createPriceList(settings: ModelSettingsInput, overrides?: string): PriceList {
  const own = new Map(Object.entries(overrides === undefined ? {} : parseOverrides(overrides)));
  const known = (model: string) =>
    own.get(model) ?? (isListed(model, settings) ? PRICE_TABLE[model] : undefined);
  return { priceOf: (model) => known(model) ?? known(model.replace(VERSION, "")) ?? null };
}

function isListed(model: string, settings: ModelSettingsInput): boolean {
  const provider = model.slice(0, Math.max(0, model.indexOf(":")));
  if (!isProvider(provider) || !Object.hasOwn(PRICE_TABLE, model)) return false;
  return settings[PROVIDERS[provider].baseUrl] === undefined;
}

function parseOverrides(text: string): z.infer<typeof OverridesSchema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PricesInvalidError("it is not JSON", error);
  }
  const parsed = OverridesSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PricesInvalidError(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`, parsed.error);
}
