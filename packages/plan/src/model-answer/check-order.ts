import type { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import { planGraph } from "../graph/plan-graph.ts";
import type { JsonValue } from "../json/json.ts";

const MAX_DIAGNOSTICS = 20;

/**
 * Warns when an explicit `executionOrder` puts a step before one of its dependencies, or into the same group.
 * The dependencies win: a step cannot use an output that does not exist yet.
 */
export function checkOrder(plan: Plan, order: JsonValue | undefined, diagnostics: DiagnosticCollector): void {
  const ranks = ranksOf(order);
  if (ranks.size === 0) return;
  const toolOf = new Map(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const rankOf = (id: string) => ranks.get(id) ?? ranks.get(toolOf.get(id) ?? "");
  const { dependencies } = planGraph(plan);
  let count = 0;
  for (const [index, { id }] of plan.steps.entries()) {
    const own = rankOf(id);
    for (const source of own ? (dependencies.get(id) ?? []) : []) {
      const before = rankOf(source);
      if (!own || !before || before.first < own.last || count >= MAX_DIAGNOSTICS) continue;
      count++;
      const place = before.first === own.last ? "beside" : "before";
      const message = `executionOrder puts ${id} ${place} ${source}, and ${id} depends on ${source}; the dependency holds`;
      const step = { index, id };
      diagnostics.add("ORDER_INVALID", { step }, { message, severity: "warning" });
    }
  }
}

interface Rank {
  first: number;
  last: number;
}

/** Position of each name in the order; names of one group have the same position. */
function ranksOf(order: JsonValue | undefined): Map<string, Rank> {
  const ranks = new Map<string, Rank>();
  if (!Array.isArray(order)) return ranks;
  for (const [rank, entry] of order.entries()) {
    for (const name of Array.isArray(entry) ? entry : [entry]) {
      if (typeof name !== "string") continue;
      ranks.set(name, { first: ranks.get(name)?.first ?? rank, last: rank });
    }
  }
  return ranks;
}
