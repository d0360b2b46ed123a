import { type Plan, parsePlan } from "@planwright/plan";
import type { GraphStep } from "../../plans/graph-shapes.ts";

/** A plan of no-op steps. Its limits are far above those of clients, to see how costs grow. */
export function planOf(steps: readonly GraphStep[], latencyMs?: number): Plan {
  const parsed = parsePlan(
    steps.map(({ id, dependsOn }) => ({
      id,
      dependsOn: [...dependsOn],
      tool: "noop",
      arguments: { value: 1, ...(latencyMs !== undefined && { latencyMs }) },
    })),
    { limits: { maxSteps: 100_000, maxBytes: 64 * 1_048_576 }, policy: { maxParallel: 64 } },
  );
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}
