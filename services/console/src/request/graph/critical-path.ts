/** The fields of a step that the path needs. */
export interface TimedStep {
  id: string;
  dependsOn: readonly string[];
  startedAt: string | null;
  finishedAt: string | null;
}

/**
 * The critical path: the chain of steps that determined when the plan ended. It leads from the step that
 * ended last to its dependency that ended last, and so on. If any other step were shorter, the plan would not
 * have ended earlier. Empty before a step has ended.
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
