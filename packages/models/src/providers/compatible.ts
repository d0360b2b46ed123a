import type { ProviderDefinition } from "./chat.ts";

/**
 * Any server other than OpenAI that speaks OpenAI's chat-completions protocol: Groq, Ollama, vLLM, llama.cpp.
 */
export const compatible: ProviderDefinition = {
  home: null,
  needs: "base URL",
  traceName: "compatible",
  testProtocol: "openai",
  endings: {},
  reasons: {},
  prices: {},
  open: async (options) => (await import("./chat-completions.ts")).openChatCompletions(options),
};
