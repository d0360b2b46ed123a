import { canonicalDigest, type Plan } from "@planwright/plan";

/**
 * SHA-256 of the effects of a plan: its steps in any order, and the requested outputs. Approval does not
 * count. Pure.
 */
export function planDigest({ steps, outputs }: Plan): string {
  const done = steps
    .map((step) => {
      const { approval: _, dependsOn, ...rest } = step;
      return { ...rest, dependsOn: dependsOn.toSorted() };
    })
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return canonicalDigest({
    steps: done,
    outputs: (Array.isArray(outputs) ? outputs.toSorted() : outputs) ?? null,
  });
}
