import { type StepRow } from "../../data/request-facts.ts";

/** The steps of a plan without the items of lists. A list makes no call, so its times come from its items. */
export function stepsWithTimes(steps: readonly StepRow[]): StepRow[] {
  const itemsOf = new Map<string, StepRow[]>();
  for (const step of steps)
    if (step.item !== null) itemsOf.set(step.id, [...(itemsOf.get(step.id) ?? []), step]);
  return steps
    .filter(({ item }) => item === null)
    .map((step) => {
      const items = itemsOf.get(step.id);
      return step.startedAt === null && items ? withTimesOf(step, items) : step;
    });
}

function withTimesOf(list: StepRow, items: readonly StepRow[]): StepRow {
  const starts = items.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
  const ends = items.flatMap(({ finishedAt }) => finishedAt ?? []).toSorted();
  const startedAt = starts[0] ?? null;
  const isOpen = list.finishedAt === null && list.status !== "COMPLETED" && list.status !== "FAILED";
  const finishedAt = list.finishedAt ?? (isOpen ? null : (ends.at(-1) ?? null));
  const durationMs =
    startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
  return { ...list, startedAt, finishedAt, durationMs };
}
