import { z } from "zod";
import type { Summary } from "./summarise.ts";

/** Figures by name, from 0 to 100; higher is better. */
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

/** The domain with an entry in the baseline, because no other domain measures the caller's time and place. */
const HELD_DOMAIN = "now-and-here";

/** The baseline of a run. Other domains are too small: there one case is many points. */
export function toBaseline(summaries: ReadonlyMap<string, Summary>): Baseline {
  const kept = [...summaries].filter(([group]) => !group.includes("/") || group.endsWith(`/${HELD_DOMAIN}`));
  return Object.fromEntries(
    kept.map(([group, { cases, figures }]) => [group, { cases, figures: { ...figures } }]),
  );
}

/**
 * Losses since the baseline, one line each: figures that are lower by {@link LOSS} points or more, and
 * missing cases. Pure.
 */
export function lossesSince(before: Baseline, now: Baseline): string[] {
  return Object.entries(before).flatMap(([group, was]) => {
    const is = now[group];
    if (!is) return [`${group}: has no cases any more`];
    const fewer = is.cases < was.cases ? [`${group}: ${is.cases} cases, before ${was.cases}`] : [];
    const figures = Object.entries(was.figures).flatMap(([name, before]) => {
      const found = is.figures[name];
      if (found === undefined) return [`${group}: ${name} is not measured any more`];
      // Compared in integer hundredths, so that rounding of floats does not matter.
      const isLost = Math.round((before - found) * 100) >= LOSS * 100;
      return isLost ? [`${group}: ${name} is ${found}, before ${before}`] : [];
    });
    return [...fewer, ...figures];
  });
}
