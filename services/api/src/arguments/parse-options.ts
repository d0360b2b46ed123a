import type { ModelLimits } from "@planwright/store";
import { parseMaxReplans } from "./parse-max-replans.ts";
import { type LimitsInput, parseModelLimits } from "./parse-model-limits.ts";
import { parseTags } from "./parse-tags.ts";

/** What may be said of any new request: its tags, what models are to do once its plan is over, and what they may take for it. */
export interface RequestOptionsInput {
  /** Words by which the request is found again, 10 at most. Default: none. */
  tags?: readonly string[] | null;
  /** Replans that may follow failures without being asked for, 0 to 5. Default 0. */
  maxReplans?: number | null;
  /** Tell the results in words. Default false. */
  answer?: boolean | null;
  /** Most that model calls may take. Default, and at most: the limits of the service. */
  limits?: LimitsInput | null;
}

/**
 * Reads them; `payload` is what they add to the payload of an idempotency key: nothing, where nothing was asked for.
 *
 * @param service - the limits of the service
 * @throws {BadInputError}
 */
export function parseRequestOptions(input: RequestOptionsInput, service: ModelLimits | undefined) {
  const tags = parseTags(input.tags);
  const maxReplans = parseMaxReplans(input.maxReplans ?? 0);
  const wantsAnswer = input.answer === true;
  const modelLimits = parseModelLimits(input.limits, service);
  const after = maxReplans > 0 || wantsAnswer ? [{ maxReplans, wantsAnswer }] : [];
  const limits = input.limits ? [{ limits: input.limits }] : [];
  const tagged = tags.length > 0 ? [{ tags }] : [];
  return {
    options: { tags, maxReplans, wantsAnswer, modelLimits },
    payload: [...after, ...limits, ...tagged],
  };
}
