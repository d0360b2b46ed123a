import { CodedError } from "@planwright/plan";
import { z } from "zod";
import { baseUrlVariable } from "../draft/draft-error.ts";
import type { TokenUsage } from "../draft/drafter.ts";
import { type ModelPrice, ModelPriceSchema } from "../providers/chat.ts";
import { isProvider, PROVIDERS } from "../providers/registry.ts";
import type { ModelSettingsInput } from "./model-setting.ts";

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

const MILLION = 1_000_000;

/** The cost of a call in US dollars. Tokens that the provider did not count are taken from `otherwise`. */
export function costUsd(
  price: ModelPrice,
  usage: TokenUsage,
  otherwise: { inputTokens: number; outputTokens: number } = { inputTokens: 0, outputTokens: 0 },
): number {
  const input = usage.inputTokens ?? otherwise.inputTokens;
  const cached = Math.min(usage.cachedInputTokens ?? 0, input);
  const output = usage.outputTokens ?? otherwise.outputTokens;
  const sum =
    (input - cached) * price.input + cached * (price.cachedInput ?? price.input) + output * price.output;
  return sum / MILLION;
}

/** The file of `MODEL_PRICES_FILE` cannot be read as prices. */
export class PricesInvalidError extends CodedError<{ reason: string }> {
  readonly code = "MODEL_PRICES_INVALID";
  readonly retryable = false;
  constructor(reason: string, cause: unknown) {
    super(
      `MODEL_PRICES_FILE must contain JSON such as {"openai:gpt-4o": {"input": 2.5, "cachedInput": 1.25, "output": 10}}, in dollars per million tokens: ${reason}`,
      { reason },
      { cause },
    );
  }
}
