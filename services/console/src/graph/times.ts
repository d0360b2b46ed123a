import type { StepRun } from "@planwright/client";

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

/**
 * The steps of a plan without the items of lists. A list makes no call, so its start and end come from its items; its
 * own time stays as the API measured it, because the span between them holds the time spent on waiting for people too.
 */
export function stepsWithTimes(steps: readonly StepRun[]): StepRun[] {
  const itemsOf = new Map<string, StepRun[]>();
  for (const step of steps)
    if (step.item !== null) itemsOf.set(step.id, [...(itemsOf.get(step.id) ?? []), step]);
  return steps
    .filter(({ item }) => item === null)
    .map((step) => {
      const items = itemsOf.get(step.id);
      return step.startedAt === null && items ? withTimesOf(step, items) : step;
    });
}

function withTimesOf(list: StepRun, items: readonly StepRun[]): StepRun {
  const starts = items.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
  const ends = items.flatMap(({ finishedAt }) => finishedAt ?? []).toSorted();
  const startedAt = starts[0] ?? null;
  const isOpen = list.finishedAt === null && list.status !== "COMPLETED" && list.status !== "FAILED";
  const finishedAt = list.finishedAt ?? (isOpen ? null : (ends.at(-1) ?? null));
  return { ...list, startedAt, finishedAt };
}
