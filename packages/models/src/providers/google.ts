import type { ProviderDefinition } from "./chat.ts";

/** Google's Gemini models (Generative Language API). */
export const google: ProviderDefinition = {
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
  open: async (options) => (await import("./google-content.ts")).openGenerateContent(options),
};
