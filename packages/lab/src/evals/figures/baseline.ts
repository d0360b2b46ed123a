import { z } from "zod";
import type { Summary } from "./summarise.ts";

/** Figures by name, in points of 100: the more the better. */
const EntrySchema = z.strictObject({
  cases: z.number().int().min(0),
  figures: z.record(z.string(), z.number().min(0).max(100)),
});
export type BaselineEntry = z.infer<typeof EntrySchema>;

/** What planning was worth when the figures were last written down: all cases, each source, and some groups of their own. */
export const BaselineSchema = z.record(z.string(), EntrySchema);
export type Baseline = z.infer<typeof BaselineSchema>;

/** So many points less are a loss. */
export const LOSS = 2;

/** Domains that are held by themselves, since they measure something of their own. */
const HELD_DOMAIN = "now-and-here";

/** The baseline that a run would leave. Other domains are too small: there one case is many points. */
export function toBaseline(summaries: ReadonlyMap<string, Summary>): Baseline {
  const kept = [...summaries].filter(([group]) => !group.includes("/") || group.endsWith(`/${HELD_DOMAIN}`));
  return Object.fromEntries(
    kept.map(([group, { cases, figures }]) => [group, { cases, figures: { ...figures } }]),
  );
}

/** What was lost since the baseline, a line each: a figure by {@link LOSS} points or more, or cases. Pure. */
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
