import { z } from "zod";
import type { Figures, Summary } from "./summarise.ts";

const point = z.number().min(0).max(100);
const FiguresSchema = z.strictObject({
  nodeF1: point,
  edgeF1: point,
  argumentF1: point,
  exactPlans: point,
  firstTimeValid: point,
  refusals: point,
  questions: point,
}) satisfies z.ZodType<Figures>;

/** What planning was worth when somebody last wrote it down: figures of all cases and of each source. */
export const BaselineSchema = z.record(
  z.string(),
  z.strictObject({ cases: z.number().int().min(0), figures: FiguresSchema }),
);
export type Baseline = z.infer<typeof BaselineSchema>;

/** So many points less are a loss. */
export const LOSS = 2;

/** The baseline that a run would leave. Domains are too small: there one case is many points. */
export function toBaseline(summaries: ReadonlyMap<string, Summary>): Baseline {
  const kept = [...summaries].filter(([group]) => !group.includes("/"));
  return Object.fromEntries(kept.map(([group, { cases, figures }]) => [group, { cases, figures }]));
}

/** What was lost since the baseline, a line each: a figure by {@link LOSS} points or more, or cases. Pure. */
export function lossesSince(before: Baseline, now: Baseline): string[] {
  return Object.entries(before).flatMap(([group, was]) => {
    const is = now[group];
    if (!is) return [`${group}: has no cases any more`];
    const fewer = is.cases < was.cases ? [`${group}: ${is.cases} cases, before ${was.cases}`] : [];
    const figures = FiguresSchema.keyof().options.flatMap((name) =>
      // In whole hundredths, for 100 - 98 must not depend on how floats are rounded.
      Math.round((was.figures[name] - is.figures[name]) * 100) >= LOSS * 100
        ? [`${group}: ${name} is ${is.figures[name]}, before ${was.figures[name]}`]
        : [],
    );
    return [...fewer, ...figures];
  });
}
