import { type Policy, profileOptions, resolvePolicy } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/** The policy of a request's plan: what its caller asked for wins over the profile, and the profile over the planner's own. Pure. */
export function policyOf(
  { policy: asked = {} }: Pick<RequestDocument, "policy">,
  own: Policy = resolvePolicy(),
): Policy {
  return resolvePolicy({ ...own, ...(asked.profile ? profileOptions(asked.profile) : {}), ...asked });
}
