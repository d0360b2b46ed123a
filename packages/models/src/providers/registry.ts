import type { ProviderDefinition } from "../chat/provider-definition.ts";
import { anthropic } from "./anthropic/definition.ts";
import { compatible } from "./compatible/definition.ts";
import { google } from "./google/definition.ts";
import { mistral } from "./mistral/definition.ts";
import { openai } from "./openai/definition.ts";

/**
 * The providers that `MODEL` can name, each in a separate folder. A new provider needs a folder and a line
 * here.
 */
export const PROVIDERS = { openai, anthropic, google, mistral, compatible } satisfies Record<
  string,
  ProviderDefinition
>;

/** Providers that `MODEL` can name. */
export type Provider = keyof typeof PROVIDERS;

/** True for the name of a provider. */
export function isProvider(name: string): name is Provider {
  return Object.hasOwn(PROVIDERS, name);
}

/** Names of the providers, in the order in which texts list them. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS).filter(isProvider);

/**
 * The definition of a model's provider; undefined for an unknown provider.
 * @param model - "provider:model"
 */
export function definitionOf(model: string): ProviderDefinition | undefined {
  const provider = model.slice(0, Math.max(0, model.indexOf(":")));
  return isProvider(provider) ? PROVIDERS[provider] : undefined;
}
