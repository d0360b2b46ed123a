import type { ModelLimits } from "@planwright/store";
import { parseMaxReplans } from "./parse-max-replans.ts";
import { type LimitsInput, parseModelLimits } from "./parse-model-limits.ts";

/** What models are to do once a plan is over, and what they may take for it. */
export interface FollowUpInput {
  /** Replans that may follow failures without being asked for, 0 to 5. Default 0. */
  maxReplans?: number | null;
  /** Tell the results in words. Default false. */
  answer?: boolean | null;
  /** Most that model calls may take. Default, and at most: the limits of the service. */
  limits?: LimitsInput | null;
}

/**
 * Reads it; `payload` is what it adds to the payload of an idempotency key: nothing, where nothing was asked for.
 *
 * @param service - the limits of the service
 * @throws {BadInputError}
 */
export function parseFollowUp(input: FollowUpInput, service: ModelLimits | undefined) {
  const maxReplans = parseMaxReplans(input.maxReplans ?? 0);
  const wantsAnswer = input.answer === true;
  const modelLimits = parseModelLimits(input.limits, service);
  const after = maxReplans > 0 || wantsAnswer ? [{ maxReplans, wantsAnswer }] : [];
  const limits = input.limits ? [{ limits: input.limits }] : [];
  return { wish: { maxReplans, wantsAnswer, modelLimits }, payload: [...after, ...limits] };
}
