import type { VersionFact } from "./facts.ts";

const leftOf = ({ steps, completed }: VersionFact) => steps - completed;

/**
 * The earlier version to which it is best to go back: more steps are left of the current one, although no
 * more of them completed. Of several the one of which the fewest steps are left, then the newest. Undefined
 * when there is none. Pure.
 */
export function betterVersion<Version extends VersionFact>(
  current: VersionFact,
  earlier: readonly Version[],
): Version | undefined {
  return earlier
    .filter((one) => leftOf(one) < leftOf(current) && one.completed >= current.completed)
    .toSorted((one, other) => leftOf(one) - leftOf(other) || other.version - one.version)[0];
}

/** "2 of 3 steps" */
export const leftText = (version: VersionFact) => `${leftOf(version)} of ${version.steps}`;
