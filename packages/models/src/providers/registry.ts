import type { EndingCode, ProviderDefinition, ReasonCode } from "./chat.ts";

/** OpenAI, or another server that speaks its chat-completions protocol at the base URL. */
const openai: ProviderDefinition = {
  home: "https://api.openai.com/v1",
  needs: "key or base URL",
  traceName: "openai",
  testProtocol: "openai",
  endings: { length: "MODEL_ANSWER_TRUNCATED", content_filter: "MODEL_CONTENT_FILTERED" },
  reasons: { insufficient_quota: "MODEL_QUOTA_EXHAUSTED", content_filter: "MODEL_CONTENT_FILTERED" },
  prices: {
    "gpt-4o": { input: 2.5, cachedInput: 1.25, output: 10 },
    "gpt-4o-mini": { input: 0.15, cachedInput: 0.075, output: 0.6 },
    "gpt-4.1": { input: 2, cachedInput: 0.5, output: 8 },
    "gpt-4.1-mini": { input: 0.4, cachedInput: 0.1, output: 1.6 },
    "gpt-4.1-nano": { input: 0.1, cachedInput: 0.025, output: 0.4 },
    "gpt-5": { input: 1.25, cachedInput: 0.125, output: 10 },
    "gpt-5-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
    "gpt-5-nano": { input: 0.05, cachedInput: 0.005, output: 0.4 },
    "gpt-5.4": { input: 2.5, cachedInput: 0.25, output: 15 },
    "gpt-5.4-mini": { input: 0.75, cachedInput: 0.075, output: 4.5 },
    "gpt-5.4-nano": { input: 0.2, cachedInput: 0.02, output: 1.25 },
    "gpt-5.5": { input: 5, cachedInput: 0.5, output: 30 },
  },
  open: async (options) => (await import("./protocols.ts")).openChatCompletions(options),
};

/** Anthropic. */
const anthropic: ProviderDefinition = {
  home: "https://api.anthropic.com",
  needs: "key",
  traceName: "anthropic",
  testProtocol: "anthropic",
  endings: {
    max_tokens: "MODEL_ANSWER_TRUNCATED",
    model_context_window_exceeded: "MODEL_ANSWER_TRUNCATED",
    refusal: "MODEL_REFUSED",
  },
  reasons: { billing_error: "MODEL_QUOTA_EXHAUSTED" },
  prices: {
    "claude-haiku-4-5": { input: 1, cachedInput: 0.1, output: 5 },
    "claude-haiku-5-5": { input: 0.1, cachedInput: 0.01, output: 0.5 },
    "claude-sonnet-4-5": { input: 3, cachedInput: 0.3, output: 15 },
    "claude-sonnet-4-6": { input: 3, cachedInput: 0.3, output: 15 },
    "claude-sonnet-5": { input: 2, cachedInput: 0.2, output: 10 },
    "claude-sonnet-5-5": { input: 2, cachedInput: 0.2, output: 10 },
    "claude-opus-4-5": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-4-8": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-5": { input: 5, cachedInput: 0.5, output: 25 },
    "claude-opus-5-5": { input: 4, cachedInput: 0.2, output: 20 },
  },
  open: async (options) => (await import("./protocols.ts")).openMessages(options),
};

/** Google's Gemini models (Generative Language API). */
const google: ProviderDefinition = {
  home: "https://generativelanguage.googleapis.com",
  needs: "key",
  traceName: "gcp.gemini",
  testProtocol: "google",
  endings: {
    MAX_TOKENS: "MODEL_ANSWER_TRUNCATED",
    SAFETY: "MODEL_CONTENT_FILTERED",
    RECITATION: "MODEL_CONTENT_FILTERED",
    BLOCKLIST: "MODEL_CONTENT_FILTERED",
    PROHIBITED_CONTENT: "MODEL_CONTENT_FILTERED",
    SPII: "MODEL_CONTENT_FILTERED",
    BLOCKED_PROMPT: "MODEL_CONTENT_FILTERED",
  },
  reasons: { API_KEY_INVALID: "MODEL_UNAUTHORIZED" },
  prices: {
    "gemini-2.5-pro": { input: 1.25, cachedInput: 0.125, output: 10 },
    "gemini-2.5-flash": { input: 0.3, cachedInput: 0.03, output: 2.5 },
    "gemini-2.5-flash-lite": { input: 0.1, cachedInput: 0.01, output: 0.4 },
    "gemini-3.5-flash": { input: 1.5, cachedInput: 0.15, output: 9 },
    "gemini-3.6-flash": { input: 1.5, cachedInput: 0.15, output: 7.5 },
  },
  open: async (options) => (await import("./protocols.ts")).openGenerateContent(options),
};

/**
 * Mistral AI, with its variant of the chat-completions protocol: usage comes without a request, and unknown
 * fields such as `stream_options` are refused with 422. `@langchain/mistralai` 1.2.0 is not used: it passes
 * no signal to the connection, so a call continues after its time limit, and it drops the count of cached
 * tokens.
 */
const mistral: ProviderDefinition = {
  home: "https://api.mistral.ai/v1",
  needs: "key",
  traceName: "mistral_ai",
  testProtocol: "mistral",
  endings: { model_length: "MODEL_ANSWER_TRUNCATED" },
  reasons: {},
  // The prices are not known for certain; name them in the file of MODEL_PRICES_FILE.
  prices: {},
  open: async (options) => (await import("./protocols.ts")).openMistralCompletions(options),
};

/**
 * Any server other than OpenAI that speaks OpenAI's chat-completions protocol: Groq, Ollama, vLLM, llama.cpp.
 */
const compatible: ProviderDefinition = {
  home: null,
  needs: "base URL",
  traceName: "compatible",
  testProtocol: "openai",
  endings: {},
  reasons: {},
  prices: {},
  open: async (options) => (await import("./protocols.ts")).openChatCompletions(options),
};

/** The providers that `MODEL` can name. */
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
