/** What the path needs of a step. */
export interface TimedStep {
  id: string;
  dependsOn: readonly string[];
  startedAt: string | null;
  finishedAt: string | null;
}

/**
 * The chain of steps that decided when the plan ended: from the step that ended last, each time to the
 * dependency that ended last. Shortening any other step would not have ended the plan earlier. Empty before a
 * step has ended.
 */
export function criticalPath(steps: readonly TimedStep[]): ReadonlySet<string> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const path = new Set<string>();
  let step = lastOf(steps);
  while (step && !path.has(step.id)) {
    path.add(step.id);
    step = lastOf(step.dependsOn.flatMap((id) => byId.get(id) ?? []));
  }
  return path;
}

function lastOf(steps: readonly TimedStep[]): TimedStep | undefined {
  const ended = steps.filter(({ startedAt, finishedAt }) => startedAt !== null && finishedAt !== null);
  return ended.reduce<TimedStep | undefined>(
    (last, step) => (last && (last.finishedAt ?? "") >= (step.finishedAt ?? "") ? last : step),
    undefined,
  );
}
