import { isUnheldPlanStatus, PlanStatusSchema } from "@planwright/plan";
import type { Change } from "./change.ts";

/** Number of plans that each process holds after the last change, by its pid. Pure. */
export function plansHeld(changes: readonly Change[]): Map<number, number> {
  const holders = new Map<string, number>();
  for (const change of changes) {
    if (change.collection !== "plans") continue;
    if (change.owner !== undefined) holders.set(change.id, pidOf(change.owner));
    if (isReleased(change)) holders.delete(change.id);
  }
  const counts = new Map<number, number>();
  for (const pid of holders.values()) counts.set(pid, (counts.get(pid) ?? 0) + 1);
  return counts;
}

/** True when no executor holds the plan after this change: it has ended, waits, or is queued again. */
export function isReleased({ status }: Change): boolean {
  if (status === undefined) return false;
  return isUnheldPlanStatus(PlanStatusSchema.parse(status));
}

/** The pid of an owner, whose name is `{host}:{pid}:{random}`. */
export function pidOf(owner: string): number {
  return Number(owner.split(":").at(-2));
}
