import type { ModelLimits } from "@planwright/store";
import { BadInputError } from "../errors/input-errors.ts";

/** Limits as a client gives them. Default: the limits of the service. */
export type LimitsInput = { readonly [limit in keyof ModelLimits]?: number | null };

/** The setting of the service for each limit. */
const SETTINGS = {
  maxModelCalls: "REQUEST_MAX_MODEL_CALLS",
  maxTokens: "REQUEST_MAX_TOKENS",
  maxCostUsd: "REQUEST_MAX_COST_USD",
} as const satisfies Record<keyof ModelLimits, string>;

const NO_LIMITS: ModelLimits = { maxModelCalls: null, maxTokens: null, maxCostUsd: null };

/**
 * The limits of a request: those of the service, or lower ones.
 * @throws {BadInputError} for higher or negative ones
 */
export function parseModelLimits(
  input: LimitsInput | null | undefined,
  service: ModelLimits = NO_LIMITS,
): ModelLimits {
  const limitOf = (limit: keyof ModelLimits): number | null => {
    const requested = input?.[limit] ?? null;
    const max = service[limit];
    if (requested === null) return max;
    if (Number.isFinite(requested) && requested >= 0 && (max === null || requested <= max)) return requested;
    throw new BadInputError(
      `limits.${limit}`,
      `limits.${limit} is ${requested}; 0 ${max === null ? "or more is" : `to ${max} are`} accepted`,
      `Give less, or leave it out for ${max ?? "no limit"}; the operator sets ${SETTINGS[limit]}.`,
    );
  };
  return {
    maxModelCalls: limitOf("maxModelCalls"),
    maxTokens: limitOf("maxTokens"),
    maxCostUsd: limitOf("maxCostUsd"),
  };
}
