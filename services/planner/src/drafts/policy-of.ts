import { type Policy, profileOptions, resolvePolicy } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/**
 * The policy of a request's plan: the caller's options override the profile, and the profile overrides the
 * policy of the planner. `replannedEffects` of the planner is a limit: callers may tighten it, not loosen it.
 * Pure.
 */
export function policyOf(
  { policy: asked = {} }: Pick<RequestDocument, "policy">,
  defaults: Policy = resolvePolicy(),
): Policy {
  const policy = resolvePolicy({
    ...defaults,
    ...(asked.profile ? profileOptions(asked.profile) : {}),
    ...asked,
  });
  return { ...policy, replannedEffects: stricterEffects(policy.replannedEffects, defaults.replannedEffects) };
}

/** `run` only if all values are `run`: that of the plan and that of the operator. Pure. */
export function stricterEffects(
  ...values: readonly Policy["replannedEffects"][]
): Policy["replannedEffects"] {
  return values.every((value) => value === "run") ? "run" : "approve";
}
