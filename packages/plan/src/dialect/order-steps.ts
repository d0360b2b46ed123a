import { cut, type DiagnosticCollector, didYouMean } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { digitsOf, isJsonNumber } from "../json/exact-json.ts";
import type { JsonValue } from "../json/json.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import { renamedIds } from "./rename-ids.ts";

const MAX_NAMES = 1_000_000;

/** Context for checking an order. */
interface Ordering {
  readonly catalogue: Catalogue | undefined;
  readonly diagnostics: DiagnosticCollector;
}

/**
 * Sorts steps by `executionOrder` of the tool-chaining dialect: a list of tools or step ids, grouped or not.
 * Steps that it does not name follow in their previous order. It changes only the order of the list;
 * `sequential` makes each step wait for the one before it, `parallel` changes nothing.
 */
export function orderSteps(steps: DraftStep[], order: JsonValue | undefined, ordering: Ordering): void {
  const { diagnostics } = ordering;
  if (order === undefined || order === "parallel") return;
  if (order === "sequential") {
    for (const [position, step] of steps.entries()) {
      const before = steps[position - 1];
      if (before && !step.dependsOn.includes(before.id)) step.dependsOn.push(before.id);
    }
    return;
  }
  const names = namesIn(order, renamedIds(steps));
  if (!names) {
    const message = 'executionOrder is a list of tools or step ids, or "sequential", or "parallel"';
    diagnostics.add("ORDER_INVALID", { keys: ["executionOrder"] }, { message, severity: "warning" });
    return;
  }
  const rankOf = new Map<string, number>();
  for (const [rank, name] of names.entries()) if (!rankOf.has(name)) rankOf.set(name, rank);
  checkNames(steps, rankOf.keys(), ordering);
  const rank = (step: DraftStep) => rankOf.get(step.id) ?? rankOf.get(step.tool) ?? MAX_NAMES;
  steps.sort((one, other) => rank(one) - rank(other) || one.index - other.index);
  steps.forEach((step, index) => {
    step.index = index;
  });
}

/** A tool in the order that no step calls was forgotten: an error. Any other unknown name is a warning. */
function checkNames(
  steps: readonly DraftStep[],
  names: Iterable<string>,
  { catalogue, diagnostics }: Ordering,
): void {
  const where = { keys: ["executionOrder"] };
  const known = new Set(steps.flatMap(({ id, tool }) => [id, tool, catalogue?.find(tool)?.name ?? tool]));
  for (const name of names) {
    const tool = catalogue?.find(name)?.name;
    if (known.has(name) || (tool !== undefined && known.has(tool))) continue;
    if (tool !== undefined) {
      const message = `executionOrder names ${cut(name)}, and no step calls that tool; add the step, or take the name out`;
      diagnostics.add("ORDER_INVALID", where, { message });
      continue;
    }
    const suggestion = diagnostics.nearest(name, known);
    const message = `executionOrder names ${cut(name)}: no such step${didYouMean(suggestion)}`;
    diagnostics.add("ORDER_INVALID", where, { message, severity: "warning", suggestion });
  }
}

/** The names of an order, with groups flattened; undefined for an invalid order. */
function namesIn(order: JsonValue, renamed: ReadonlyMap<string, string>): string[] | undefined {
  if (!Array.isArray(order)) return undefined;
  const names = order.flat().map((name) => (isJsonNumber(name) ? digitsOf(name) : name));
  if (!names.every((name) => typeof name === "string")) return undefined;
  return names.map((name) => renamed.get(name) ?? name);
}
