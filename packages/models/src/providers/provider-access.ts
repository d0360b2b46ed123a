import type { ModelSettings } from "../settings/model-setting.ts";
import { PROVIDERS, type Provider } from "./provider.ts";

/** The variable that has to be set before a provider can be called; null when nothing is missing. */
export function missingVariable(provider: Provider, settings: ModelSettings): string | null {
  const { key, baseUrl, needs } = PROVIDERS[provider];
  switch (needs) {
    case "key":
      return settings[key] === undefined ? key : null;
    case "key or base URL":
      return settings[key] === undefined && settings[baseUrl] === undefined ? key : null;
    case "base URL":
      return settings[baseUrl] === undefined ? baseUrl : null;
  }
}

/** Where a provider is asked; undefined where no address is set. */
export function addressOf(provider: Provider, settings: ModelSettings): string | undefined {
  const { baseUrl, home } = PROVIDERS[provider];
  return settings[baseUrl] ?? home ?? undefined;
}

/** A server with its own base URL may need no key; the clients want one all the same. */
const NO_KEY = "none";

/** Key and base URL of a provider. */
export function accessOf(
  provider: Provider,
  settings: ModelSettings,
): { apiKey: string; baseUrl: string | undefined } {
  const { key, baseUrl } = PROVIDERS[provider];
  return { apiKey: settings[key] ?? NO_KEY, baseUrl: settings[baseUrl] };
}
