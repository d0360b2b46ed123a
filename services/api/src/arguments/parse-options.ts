import type { Priority } from "@planwright/plan";
import type { ModelLimits } from "@planwright/store";
import { parseMaxReplans } from "./parse-max-replans.ts";
import { type LimitsInput, parseModelLimits } from "./parse-model-limits.ts";
import { parseTags } from "./parse-tags.ts";

/** Options of every new request: tags, replans and an answer after its plan, and limits of model calls. */
export interface RequestOptionsInput {
  /** Labels to find the request by, at most 10. Default: none. */
  tags?: readonly string[] | null;
  /** Its place among the waiting requests of the tenant. Default: normal. */
  priority?: Priority | null;
  /** Automatic replans after failures, 0 to 5. Default 0. */
  maxReplans?: number | null;
  /** Describe the results in words. Default false. */
  answer?: boolean | null;
  /** Limits of model calls. Default and maximum: the limits of the service. */
  limits?: LimitsInput | null;
}

/**
 * Parses the options. `payload` is their part of the payload of an idempotency key: nothing for absent
 * options.
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
  const priority = input.priority ?? "normal";
  const prior = priority === "normal" ? [] : [{ priority }];
  return {
    options: { tags, priority, maxReplans, wantsAnswer, modelLimits },
    payload: [...after, ...limits, ...tagged, ...prior],
  };
}
