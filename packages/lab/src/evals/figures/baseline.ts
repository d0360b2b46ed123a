import { z } from "zod";
import type { Summary } from "./summarise.ts";

/** Figures by name, in points of 100: the more the better. */
const EntrySchema = z.strictObject({
  cases: z.number().int().min(0),
  figures: z.record(z.string(), z.number().min(0).max(100)),
});
export type BaselineEntry = z.infer<typeof EntrySchema>;

/** The figures of an earlier run: all cases, each source, and some groups. */
export const BaselineSchema = z.record(z.string(), EntrySchema);
export type Baseline = z.infer<typeof BaselineSchema>;

/** A figure that is lower by this many points is a loss. */
export const LOSS = 2;

/** A domain with its own entry, since it measures something of its own. */
const HELD_DOMAIN = "now-and-here";

/** The baseline that a run would leave. Other domains are too small: there one case is many points. */
export function toBaseline(summaries: ReadonlyMap<string, Summary>): Baseline {
  const kept = [...summaries].filter(([group]) => !group.includes("/") || group.endsWith(`/${HELD_DOMAIN}`));
  return Object.fromEntries(
    kept.map(([group, { cases, figures }]) => [group, { cases, figures: { ...figures } }]),
  );
}

/**
 * Losses since the baseline, one line each: figures lower by {@link LOSS} points or more, and missing cases.
 * Pure.
 */
export function lossesSince(before: Baseline, now: Baseline): string[] {
  return Object.entries(before).flatMap(([group, was]) => {
    const is = now[group];
    if (!is) return [`${group}: has no cases any more`];
    const fewer = is.cases < was.cases ? [`${group}: ${is.cases} cases, before ${was.cases}`] : [];
    const figures = Object.entries(was.figures).flatMap(([name, before]) => {
      const found = is.figures[name];
      if (found === undefined) return [`${group}: ${name} is not measured any more`];
      // In whole hundredths, for 100 - 98 must not depend on how floats are rounded.
      const isLost = Math.round((before - found) * 100) >= LOSS * 100;
      return isLost ? [`${group}: ${name} is ${found}, before ${before}`] : [];
    });
    return [...fewer, ...figures];
  });
}
