import type { Chat } from "./chat.ts";
import type { ModelPrice } from "./model-price.ts";

/** A model of a provider, and where it is asked. */
export interface OpenOptions {
  /** As the provider calls it. */
  model: string;
  /** "provider:model", for errors. */
  name: string;
  apiKey: string;
  baseUrl: string;
  /** The setting that holds the base URL, for errors. */
  baseUrlVariable: string;
  timeoutMs: number;
  maxOutputTokens: number;
}

/** How the provider itself says that an answer is no complete one. */
export type EndingCode = "MODEL_ANSWER_TRUNCATED" | "MODEL_CONTENT_FILTERED" | "MODEL_REFUSED";

/** What the provider's own error codes can mean beyond the HTTP status. */
export type ReasonCode = "MODEL_QUOTA_EXHAUSTED" | "MODEL_UNAUTHORIZED" | "MODEL_CONTENT_FILTERED";

/**
 * Everything this package knows about one provider. Its settings are `<NAME>_API_KEY` and `<NAME>_BASE_URL`,
 * by its name in the registry.
 */
export interface ProviderDefinition {
  /** Where the provider is asked without a base URL; null where there is no such place. */
  home: string | null;
  /** What has to be set before a model can be called. */
  needs: "key" | "key or base URL" | "base URL";
  /** `gen_ai.provider.name` in traces, as the semantic conventions of OpenTelemetry call the provider. */
  traceName: string;
  /** The protocol of `startModelServer` (`@planwright/testing`) that stands in for the provider in tests. */
  testProtocol: string;
  /** Finish reasons of an answer that is not complete; any other one means that it is. */
  endings: Readonly<Record<string, EndingCode>>;
  /** Codes in the body of an error. */
  reasons: Readonly<Record<string, ReasonCode>>;
  /** List prices of common models, as published in November 2026: standard tier, short prompts. */
  prices: Readonly<Record<string, ModelPrice>>;
  /** Loads the provider's library, which takes about half a second; connects nothing yet. */
  open(options: OpenOptions): Promise<Chat>;
}
