import type { ProviderDefinition } from "./chat.ts";

/** OpenAI, or another server that speaks its chat-completions protocol at the base URL. */
export const openai: ProviderDefinition = {
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
  open: async (options) => (await import("./chat-completions.ts")).openChatCompletions(options),
};
