import type { ProviderDefinition } from "../../chat/provider-definition.ts";

/**
 * Any server that speaks OpenAI's chat-completions protocol and is not OpenAI: Groq, Ollama, vLLM, llama.cpp.
 */
export const compatible: ProviderDefinition = {
  home: null,
  needs: "base URL",
  traceName: "compatible",
  testProtocol: "openai",
  endings: {},
  reasons: {},
  prices: {},
  open: async (options) => (await import("../openai/chat-completions.ts")).openChatCompletions(options),
};
