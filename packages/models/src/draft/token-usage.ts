/** Tokens of one call as the provider counts them; null where it did not say. */
export interface TokenUsage {
  inputTokens: number | null;
  outputTokens: number | null;
  /** Those of `inputTokens` that the provider had from an earlier call, and charges less for. */
  cachedInputTokens?: number | null;
}
