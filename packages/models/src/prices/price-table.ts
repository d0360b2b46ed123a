import type { ModelPrice } from "./model-price.ts";

/**
 * List prices as the providers published them in November 2026, in US dollars for a million tokens: of the standard tier, for prompts as
 * short as ours. They change: the file of `MODEL_PRICES_FILE` wins over them.
 */
export const PRICE_TABLE: Readonly<Record<string, ModelPrice>> = {
  "openai:gpt-4o": { input: 2.5, cachedInput: 1.25, output: 10 },
  "openai:gpt-4o-mini": { input: 0.15, cachedInput: 0.075, output: 0.6 },
  "openai:gpt-4.1": { input: 2, cachedInput: 0.5, output: 8 },
  "openai:gpt-4.1-mini": { input: 0.4, cachedInput: 0.1, output: 1.6 },
  "openai:gpt-4.1-nano": { input: 0.1, cachedInput: 0.025, output: 0.4 },
  "openai:gpt-5": { input: 1.25, cachedInput: 0.125, output: 10 },
  "openai:gpt-5-mini": { input: 0.25, cachedInput: 0.025, output: 2 },
  "openai:gpt-5-nano": { input: 0.05, cachedInput: 0.005, output: 0.4 },
  "openai:gpt-5.4": { input: 2.5, cachedInput: 0.25, output: 15 },
  "openai:gpt-5.4-mini": { input: 0.75, cachedInput: 0.075, output: 4.5 },
  "openai:gpt-5.4-nano": { input: 0.2, cachedInput: 0.02, output: 1.25 },
  "openai:gpt-5.5": { input: 5, cachedInput: 0.5, output: 30 },
  "anthropic:claude-haiku-4-5": { input: 1, cachedInput: 0.1, output: 5 },
  "anthropic:claude-haiku-5-5": { input: 0.1, cachedInput: 0.01, output: 0.5 },
  "anthropic:claude-sonnet-4-5": { input: 3, cachedInput: 0.3, output: 15 },
  "anthropic:claude-sonnet-4-6": { input: 3, cachedInput: 0.3, output: 15 },
  "anthropic:claude-sonnet-5": { input: 2, cachedInput: 0.2, output: 10 },
  "anthropic:claude-sonnet-5-5": { input: 2, cachedInput: 0.2, output: 10 },
  "anthropic:claude-opus-4-5": { input: 5, cachedInput: 0.5, output: 25 },
  "anthropic:claude-opus-4-8": { input: 5, cachedInput: 0.5, output: 25 },
  "anthropic:claude-opus-5": { input: 5, cachedInput: 0.5, output: 25 },
  "anthropic:claude-opus-5-5": { input: 4, cachedInput: 0.2, output: 20 },
  "google:gemini-2.5-pro": { input: 1.25, cachedInput: 0.125, output: 10 },
  "google:gemini-2.5-flash": { input: 0.3, cachedInput: 0.03, output: 2.5 },
  "google:gemini-2.5-flash-lite": { input: 0.1, cachedInput: 0.01, output: 0.4 },
  "google:gemini-3.5-flash": { input: 1.5, cachedInput: 0.15, output: 9 },
  "google:gemini-3.6-flash": { input: 1.5, cachedInput: 0.15, output: 7.5 },
};
