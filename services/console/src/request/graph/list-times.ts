import type { StepRun } from "@planwright/client";

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
