import { type Policy, profileOptions, resolvePolicy } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/**
 * The policy of a request's plan: the caller's options win over the profile, and the profile over the
 * planner's own policy. `replannedEffects` of the planner's own policy is a limit: callers may tighten it and
 * not loosen it. Pure.
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

/** `run` only where all of them are `run`: the plan's and the operator's. Pure. */
export function stricterEffects(...words: readonly Policy["replannedEffects"][]): Policy["replannedEffects"] {
  return words.every((word) => word === "run") ? "run" : "approve";
}
