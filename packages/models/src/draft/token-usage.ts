/** Tokens of one call as the provider counts them; null when it did not. */
export interface TokenUsage {
  inputTokens: number | null;
  outputTokens: number | null;
  /** Those of `inputTokens` that the provider has cached from an earlier call, and charges less for. */
  cachedInputTokens?: number | null;
}
