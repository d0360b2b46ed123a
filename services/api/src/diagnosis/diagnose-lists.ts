import { type StepAdvice, stepAdvice } from "@planwright/engine";
import { countText } from "@planwright/plan";
import type { NextAction, PartialDiagnosis } from "./diagnosis.ts";
import { type DiagnosisFacts, type PlanFact, type StepFact, serverOf } from "./facts.ts";
import { replan, rerun } from "./next-actions.ts";
import { clipped, problem, stepName } from "./wording.ts";

/** Most codes and lists that are named; the others are counted. */
const MAX_NAMED = 3;

/** A forEach step that completed although some of its items failed. */
interface PartlyDone {
  list: StepFact;
  /** Without those that its condition skipped. */
  items: number;
  failedCount: number;
  /** Of very many the first ones. */
  failed: readonly StepFact[];
}

/**
 * A plan that is PARTIAL although every step is COMPLETED: items of a list failed, but no more than the list
 * allows. Undefined when there is no such list.
 */
export function diagnoseLists(facts: DiagnosisFacts, plan: PlanFact): PartialDiagnosis | undefined {
  const [first, ...others] = partlyDone(plan);
  const [item] = first?.failed ?? [];
  if (!first || !item) return undefined;
  const error = item.error ?? { code: "TOOL_FAILED", message: "no message" };
  const advice = stepAdvice(error.code, serverOf(facts, item.tool), item);
  const named = others.slice(0, MAX_NAMED).map(({ list, ...rest }) => `${stepName(list)} ${shareOf(rest)}`);
  const more = others.length > MAX_NAMED ? [`${others.length - MAX_NAMED} more lists`] : [];
  const also = others.length > 0 ? ` Also ${[...named, ...more].join(", ")}.` : "";
  return {
    code: "ITEMS_FAILED",
    message: `${shareOf(first)} of step ${stepName(first.list)} failed: ${codesOf(first.failed)}`,
    errorCode: error.code,
    reasons: [
      `Item ${item.item ?? 0}: ${problem(error)}. ${advice.why}${also}`,
      "Enough items succeeded for the plan, so the step is COMPLETED; because of the failed items its plan is PARTIAL at best.",
    ],
    stepKeys: first.failed.map(({ key }) => key),
    since: plan.finishedAt,
    next: nextOf(facts, advice),
  };
}

function partlyDone({ steps, itemCounts }: PlanFact): PartlyDone[] {
  return steps
    .filter(({ item, status }) => item === null && status === "COMPLETED")
    .map((list) => {
      const counts = itemCounts.get(list.id) ?? {};
      const items = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const failed = steps.filter(
        ({ id, item, status }) => id === list.id && item !== null && status === "FAILED",
      );
      return { list, items: items - (counts.SKIPPED ?? 0), failedCount: counts.FAILED ?? 0, failed };
    })
    .filter(({ failed }) => failed.length > 0);
}

const shareOf = ({ items, failedCount }: Pick<PartlyDone, "items" | "failedCount">) =>
  `${failedCount} of ${countText(items, "item")}`;

/** The codes of failed items in order, each with its count if there are several. */
function codesOf(failed: readonly StepFact[]): string {
  const counts = new Map<string, number>();
  for (const { error } of failed) {
    const code = error?.code ?? "TOOL_FAILED";
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const codes = [...counts].map(
    ([code, times]) => `${clipped(code, 64)}${counts.size > 1 ? ` (${times})` : ""}`,
  );
  const more = codes.length - MAX_NAMED;
  return [...codes.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more codes`] : [])].join(", ");
}

/** The same calls again; or a new plan if those would fail again. */
function nextOf({ request }: DiagnosisFacts, { instruction, action }: StepAdvice): NextAction[] {
  const isCorrected = action === "correct" || action === "repeat";
  const first = isCorrected ? "If the reason lay outside and is gone, call" : `${instruction}, call`;
  const again = rerun(request, `${first} exactly the failed items again; completed items are kept:`);
  if (!isCorrected || request.plan?.origin.kind !== "model") return [again];
  return [again, replan(request, "Or have the planner replan the rest, knowing the failures:")];
}
