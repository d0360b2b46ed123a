import type { ProviderDefinition } from "../../chat/provider-definition.ts";
import { wrapErrors } from "./wrap-errors.ts";

/**
 * Mistral AI, with its variant of the chat-completions protocol: usage comes without a request, and unknown
 * fields such as `stream_options` are refused with 422. `@langchain/mistralai` 1.2.0 is not used: it passes
 * no signal to the connection, so a call continues after its time limit, and it drops the count of cached
 * tokens.
 */
export const mistral: ProviderDefinition = {
  home: "https://api.mistral.ai/v1",
  needs: "key",
  traceName: "mistral_ai",
  testProtocol: "mistral",
  endings: { model_length: "MODEL_ANSWER_TRUNCATED" },
  reasons: {},
  // The prices are not known for certain; name them in the file of MODEL_PRICES_FILE.
  prices: {},
  open: async (options) => {
    const { openChatCompletions } = await import("../openai/chat-completions.ts");
    return openChatCompletions(options, { asksForUsage: false, translate: wrapErrors });
  },
};
