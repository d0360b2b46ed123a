/** The result of matching found items with wanted ones. */
export interface Counts {
  /** Wanted and found. */
  right: number;
  /** Found and not wanted. */
  wrong: number;
  /** Wanted and not found. */
  missed: number;
}

export const NONE: Counts = { right: 0, wrong: 0, missed: 0 };

/** Counts two lists as multisets: an item found twice and wanted once is right once and wrong once. */
export function countMatches(wanted: readonly string[], found: readonly string[]): Counts {
  const open = new Map<string, number>();
  for (const item of wanted) open.set(item, (open.get(item) ?? 0) + 1);
  let right = 0;
  for (const item of found) {
    const left = open.get(item) ?? 0;
    if (left === 0) continue;
    open.set(item, left - 1);
    right += 1;
  }
  return { right, wrong: found.length - right, missed: wanted.length - right };
}

/** The sum of several comparisons, so that each item has the same weight (micro average). */
export function sumCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, each) => ({
      right: sum.right + each.right,
      wrong: sum.wrong + each.wrong,
      missed: sum.missed + each.missed,
    }),
    NONE,
  );
}

/** Harmonic mean of precision and recall, in [0, 1]; 1 when nothing was wanted and nothing was found. */
export function f1Of({ right, wrong, missed }: Counts): number {
  const weight = 2 * right + wrong + missed;
  return weight === 0 ? 1 : (2 * right) / weight;
}
