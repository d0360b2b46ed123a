import type { Chat } from "./chat.ts";
import type { ModelPrice } from "./model-price.ts";

/** A model of a provider, and its address. */
export interface OpenOptions {
  /** The provider's name for the model. */
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

/** Codes for finish reasons of incomplete answers. */
export type EndingCode = "MODEL_ANSWER_TRUNCATED" | "MODEL_CONTENT_FILTERED" | "MODEL_REFUSED";

/** Meanings of the provider's error codes beyond the HTTP status. */
export type ReasonCode = "MODEL_QUOTA_EXHAUSTED" | "MODEL_UNAUTHORIZED" | "MODEL_CONTENT_FILTERED";

/**
 * All facts about one provider. Its settings are `<NAME>_API_KEY` and `<NAME>_BASE_URL`, by its name in the
 * registry.
 */
export interface ProviderDefinition {
  /** The default address; null when there is none. */
  home: string | null;
  /** The settings that are required to call a model. */
  needs: "key" | "key or base URL" | "base URL";
  /** `gen_ai.provider.name` in traces, from the semantic conventions of OpenTelemetry. */
  traceName: string;
  /** The protocol of `startModelServer` (`@planwright/testing`) that replaces the provider in tests. */
  testProtocol: string;
  /** Finish reasons of incomplete answers; any other reason means a complete answer. */
  endings: Readonly<Record<string, EndingCode>>;
  /** Codes in the body of an error, with their meaning. */
  reasons: Readonly<Record<string, ReasonCode>>;
  /** List prices of common models, as published in November 2026: standard tier, short prompts. */
  prices: Readonly<Record<string, ModelPrice>>;
  /** Loads the provider's library, which takes about half a second. Does not connect yet. */
  open(options: OpenOptions): Promise<Chat>;
}
