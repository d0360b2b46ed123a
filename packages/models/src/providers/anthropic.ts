import type { ProviderDefinition } from "./chat.ts";

/** Anthropic. */
export const anthropic: ProviderDefinition = {
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
  open: async (options) => (await import("./anthropic-messages.ts")).openMessages(options),
};
