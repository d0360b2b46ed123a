import type { VersionFact } from "./facts.ts";

const incompleteSteps = ({ steps, completed }: VersionFact) => steps - completed;

/**
 * The best earlier version to go back to: it has fewer incomplete steps than the current version, and at
 * least as many completed ones. Of several, the version with the fewest incomplete steps, then the newest.
 * Undefined when there is none. Pure.
 */
export function betterVersion<Version extends VersionFact>(
  current: VersionFact,
  earlier: readonly Version[],
): Version | undefined {
  return earlier
    .filter((one) => incompleteSteps(one) < incompleteSteps(current) && one.completed >= current.completed)
    .toSorted(
      (one, other) => incompleteSteps(one) - incompleteSteps(other) || other.version - one.version,
    )[0];
}

/** "2 of 3 steps" */
export const leftText = (version: VersionFact) => `${incompleteSteps(version)} of ${version.steps}`;
