import { type Policy, profileOptions, resolvePolicy } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/**
 * The policy of a request's plan: what its caller asked for wins over the profile, and the profile over the planner's own. Only
 * `replannedEffects` of the planner's own is a limit, which callers may tighten and not loosen. Pure.
 */
export function policyOf(
  { policy: asked = {} }: Pick<RequestDocument, "policy">,
  own: Policy = resolvePolicy(),
): Policy {
  const policy = resolvePolicy({
    ...own,
    ...(asked.profile ? profileOptions(asked.profile) : {}),
    ...asked,
  });
  return { ...policy, replannedEffects: stricterEffects(policy.replannedEffects, own.replannedEffects) };
}

/** `run` only where both say so: the plan's word and the operator's. Pure. */
export function stricterEffects(...words: readonly Policy["replannedEffects"][]): Policy["replannedEffects"] {
  return words.every((word) => word === "run") ? "run" : "approve";
}
