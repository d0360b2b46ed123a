import type { Document } from "mongodb";

/** True of a plan that no executor holds. */
export const IS_FREE = { $eq: ["$lease", null] };

/**
 * What every control changes of the plan's document: the place of its entry, by which the executor that holds the plan sees that there is
 * something new, and for a plan that no executor holds the time from which it may be claimed: now.
 */
export function headAfterControl(seq: number, change: Document): Document {
  return {
    dueAt: { $cond: [IS_FREE, "$$NOW", "$dueAt"] },
    updatedAt: "$$NOW",
    ...change,
    controlSeq: seq,
  };
}
