import type { EndingCode, ProviderDefinition, ReasonCode } from "../chat/provider-definition.ts";
import { PROVIDERS } from "./registry.ts";

// A proxy passes on the finish reasons and codes of the provider behind it, so those of all providers count
// for each.
const all: readonly ProviderDefinition[] = Object.values(PROVIDERS);
const ENDINGS = new Map(all.flatMap(({ endings }) => Object.entries(endings)));
const REASONS = new Map(all.flatMap(({ reasons }) => Object.entries(reasons)));

/** The failure that a finish reason means; undefined for a complete answer. */
export const endingOf = (finishReason: string): EndingCode | undefined => ENDINGS.get(finishReason);

/** True when one of the codes in the body of an error has this meaning. */
export const hasReason = (codes: Iterable<string>, meaning: ReasonCode): boolean =>
  [...codes].some((code) => REASONS.get(code) === meaning);
