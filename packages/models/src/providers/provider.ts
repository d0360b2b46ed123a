/** Where a provider's settings stand. */
interface ProviderVariables {
  key: "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GOOGLE_API_KEY" | "COMPATIBLE_API_KEY";
  baseUrl: "OPENAI_BASE_URL" | "ANTHROPIC_BASE_URL" | "GOOGLE_BASE_URL" | "COMPATIBLE_BASE_URL";
  /** Where the provider is asked without a base URL; null where there is no such place. */
  home: string | null;
  /** What has to be set before a model can be called. */
  needs: "key" | "key or base URL" | "base URL";
}

/** The settings of each provider. */
export const PROVIDERS = {
  openai: {
    key: "OPENAI_API_KEY",
    baseUrl: "OPENAI_BASE_URL",
    home: "https://api.openai.com/v1",
    needs: "key or base URL",
  },
  anthropic: {
    key: "ANTHROPIC_API_KEY",
    baseUrl: "ANTHROPIC_BASE_URL",
    home: "https://api.anthropic.com",
    needs: "key",
  },
  google: {
    key: "GOOGLE_API_KEY",
    baseUrl: "GOOGLE_BASE_URL",
    home: "https://generativelanguage.googleapis.com",
    needs: "key",
  },
  /** Speaks the OpenAI protocol, and is not OpenAI. */
  compatible: {
    key: "COMPATIBLE_API_KEY",
    baseUrl: "COMPATIBLE_BASE_URL",
    home: null,
    needs: "base URL",
  },
} as const satisfies Record<string, ProviderVariables>;

/** Providers that `MODEL` can name. */
export type Provider = keyof typeof PROVIDERS;

/** True for the name of a provider. */
export function isProvider(name: string): name is Provider {
  return Object.hasOwn(PROVIDERS, name);
}
