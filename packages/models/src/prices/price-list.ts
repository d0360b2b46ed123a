import { z } from "zod";
import { type ModelPrice, ModelPriceSchema } from "../chat/model-price.ts";
import { baseUrlVariable } from "../draft/model-variables.ts";
import { isProvider, PROVIDERS } from "../providers/registry.ts";
import type { ModelSettingsInput } from "../settings/model-setting.ts";
import { PricesInvalidError } from "./prices-invalid-error.ts";

/** Prices of models. */
export interface PriceList {
  /** @param model - "provider:model"; the result is null when its price is not known */
  priceOf(model: string): ModelPrice | null;
}

const OverridesSchema = z.record(z.string().regex(/^[a-z]+:.{1,200}$/), ModelPriceSchema);

/**
 * Dated versions and aliases have the price of their model: gpt-4o-2024-08-06, claude-haiku-4-5-20251001,
 * gemini-2.5-flash-latest.
 */
const VERSION = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/**
 * Prices from `overrides`, otherwise the list prices of providers. List prices are for the providers'
 * servers: for a server at a base URL, only `overrides` counts.
 * @param overrides - JSON text `{"provider:model": {"input": 1, "cachedInput": 0.1, "output": 5}}`, in
 * dollars per million tokens
 * @throws {PricesInvalidError}
 */
export function createPriceList(settings: ModelSettingsInput, overrides?: string): PriceList {
  const overridden = new Map(Object.entries(overrides === undefined ? {} : parseOverrides(overrides)));
  const known = (model: string) => overridden.get(model) ?? listPrice(model, settings);
  return { priceOf: (model) => known(model) ?? known(model.replace(VERSION, "")) ?? null };
}

/** The price of the provider's server; undefined for another server and for a model that is not listed. */
function listPrice(name: string, settings: ModelSettingsInput): ModelPrice | undefined {
  const colon = name.indexOf(":");
  const provider = name.slice(0, Math.max(0, colon));
  const model = name.slice(colon + 1);
  if (!isProvider(provider) || settings[baseUrlVariable(provider)] !== undefined) return undefined;
  const { prices } = PROVIDERS[provider];
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
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
