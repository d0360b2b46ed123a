import { type Plan, parsePlan } from "@planwright/plan";

interface StepShape {
  id: string;
  dependsOn: string[];
  latencyMs?: number;
}

/** A plan of no-op steps; limits far above those of clients, to see how costs grow. */
export function planOf(steps: StepShape[]): Plan {
  const parsed = parsePlan(
    steps.map(({ id, dependsOn, latencyMs }) => ({
      id,
      dependsOn,
      tool: "noop",
      arguments: { value: 1, ...(latencyMs === undefined ? {} : { latencyMs }) },
    })),
    { limits: { maxSteps: 100_000, maxBytes: 64 * 1_048_576 }, policy: { maxParallel: 64 } },
  );
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

/** a -> (b, c, d) -> e */
export const diamond = (latencyMs?: number): Plan =>
  planOf(
    [
      { id: "a", dependsOn: [] },
      { id: "b", dependsOn: ["a"] },
      { id: "c", dependsOn: ["a"] },
      { id: "d", dependsOn: ["a"] },
      { id: "e", dependsOn: ["b", "c", "d"] },
    ].map((step) => (latencyMs === undefined ? step : { ...step, latencyMs })),
  );

/** Steps one after the other. */
export const chain = (length: number): Plan =>
  planOf(
    Array.from({ length }, (_, index) => ({
      id: `s${index}`,
      dependsOn: index === 0 ? [] : [`s${index - 1}`],
    })),
  );

/** Steps that depend on nothing. */
export const wide = (length: number): Plan =>
  planOf(Array.from({ length }, (_, index) => ({ id: `s${index}`, dependsOn: [] })));
