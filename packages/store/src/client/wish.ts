/** True of a plan that no executor holds. */
export const IS_FREE = { $eq: ["$lease", null] };

/**
 * What every wish changes beside what it says: the counter by which the executor that holds the plan sees that there is
 * something new, and for a plan that no executor holds the time from which it may be claimed: now. One that is held stays with
 * its executor until its lease ends.
 */
export const WISH = {
  wishes: { $add: ["$wishes", 1] },
  dueAt: { $cond: [IS_FREE, "$$NOW", "$dueAt"] },
  updatedAt: "$$NOW",
} as const;

/** Values of clients are data in an expression, whatever their texts begin with. */
export function asData(fields: object): { [name: string]: { $literal: unknown } } {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { $literal: value }]));
}
