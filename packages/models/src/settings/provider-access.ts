import type { Chat } from "../chat/chat.ts";
import { baseUrlVariable, keyVariable } from "../draft/model-variables.ts";
import { PROVIDERS, type Provider } from "../providers/registry.ts";
import type { ModelSettings, NamedModel } from "./model-setting.ts";

/** The variable that must be set before a provider can be called; null when none is missing. */
export function missingVariable(provider: Provider, settings: ModelSettings): string | null {
  const [key, baseUrl] = [keyVariable(provider), baseUrlVariable(provider)];
  switch (PROVIDERS[provider].needs) {
    case "key":
      return settings[key] === undefined ? key : null;
    case "key or base URL":
      return settings[key] === undefined && settings[baseUrl] === undefined ? key : null;
    case "base URL":
      return settings[baseUrl] === undefined ? baseUrl : null;
  }
}

/** The address of a provider's server; undefined when none is set. */
export function addressOf(provider: Provider, settings: ModelSettings): string | undefined {
  return settings[baseUrlVariable(provider)] ?? PROVIDERS[provider].home ?? undefined;
}

/** A server at a configured base URL may need no key, but the clients require one. */
const NO_KEY = "none";

/**
 * Loads the library of the model's provider. Does not connect yet.
 * @param address - see {@link addressOf}
 */
export function openChat(
  { provider, model, name }: NamedModel,
  address: string,
  settings: ModelSettings,
): Promise<Chat> {
  return PROVIDERS[provider].open({
    model,
    name,
    apiKey: settings[keyVariable(provider)] ?? NO_KEY,
    baseUrl: address,
    baseUrlVariable: baseUrlVariable(provider),
    timeoutMs: settings.MODEL_TIMEOUT_MS,
    maxOutputTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
  });
}
