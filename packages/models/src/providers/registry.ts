import { anthropic } from "./anthropic.ts";
import type { EndingCode, ProviderDefinition, ReasonCode } from "./chat.ts";
import { compatible } from "./compatible.ts";
import { google } from "./google.ts";
import { mistral } from "./mistral.ts";
import { openai } from "./openai.ts";

/**
 * The providers that `MODEL` can name, each in a separate file. A new provider needs a file and a line here.
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

// A proxy passes on the finish reasons and codes of the provider behind it, so those of all providers count
// for each.
const all: readonly ProviderDefinition[] = Object.values(PROVIDERS);
const ENDINGS = new Map(all.flatMap(({ endings }) => Object.entries(endings)));
const REASONS = new Map(all.flatMap(({ reasons }) => Object.entries(reasons)));

/** The failure that a finish reason means; undefined for a complete answer. */
export const endingOf = (finishReason: string): EndingCode | undefined => ENDINGS.get(finishReason);

/** True when one of the codes in the body of an error has this meaning. */
export const hasReason = (codes: Iterable<string>, meaning: ReasonCode): boolean =>
  [...codes].some((code) => REASONS.get(code) === meaning);
