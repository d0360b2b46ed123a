import { stepAdvice } from "@planwright/engine";
import type { PlanSnapshot, StepSnapshot } from "../api/request-snapshot.ts";
import { oneLine } from "../terminal/visible-text.ts";
import { type DebugFacts, serverOf } from "./debug-facts.ts";
import type { Diagnosis, NextStep } from "./diagnosis.ts";
import { count, problem, stepName } from "./format.ts";

/** Codes and lists that are named; more are counted. */
const MAX_NAMED = 3;

/** A list that completed, and its items that did not. */
interface PartlyDone {
  list: StepSnapshot;
  items: number;
  failed: readonly StepSnapshot[];
}

/**
 * The plan is PARTIAL although every step is COMPLETED: items of a list failed, no more of them than the list may lose. Undefined
 * when no list did. Pure.
 */
export function listsFellShort(facts: DebugFacts, plan: PlanSnapshot): Diagnosis | undefined {
  const lists = partlyDone(plan);
  const [first, ...others] = lists;
  const [item] = first?.failed ?? [];
  if (!first || !item) return undefined;
  const error = item.error ?? { code: "TOOL_FAILED", message: "without a word" };
  const advice = stepAdvice(error.code, serverOf(facts, item.tool));
  const named = others.slice(0, MAX_NAMED).map(({ list, ...rest }) => `${stepName(list)} ${shareOf(rest)}`);
  const more = others.length > MAX_NAMED ? [`${others.length - MAX_NAMED} more lists`] : [];
  const also = others.length > 0 ? ` Also ${[...named, ...more].join(", ")}.` : "";
  return {
    tone: "bad",
    cause: `${shareOf(first)} of step ${stepName(first.list)} failed: ${codesOf(first.failed)}`,
    why: [
      `Item ${item.item ?? 0}: ${problem(error)}. ${advice.why}${also}`,
      "As many items as the plan asks for succeeded, so the step is COMPLETED; with failed items its plan is no more than PARTIAL.",
    ],
    next: nextOf(facts, advice),
  };
}

function partlyDone({ steps }: PlanSnapshot): PartlyDone[] {
  return steps
    .filter(({ item, status }) => item === null && status === "COMPLETED")
    .map((list) => {
      const items = steps.filter(({ id, item }) => id === list.id && item !== null);
      return { list, items: items.length, failed: items.filter(({ status }) => status === "FAILED") };
    })
    .filter(({ failed }) => failed.length > 0);
}

const shareOf = ({ items, failed }: Omit<PartlyDone, "list">) =>
  `${failed.length} of ${count(items, "item")}`;

/** The codes of items, in their order, each with how often it came where that is not all. */
function codesOf(failed: readonly StepSnapshot[]): string {
  const counts = new Map<string, number>();
  for (const { error } of failed) {
    const code = error?.code ?? "TOOL_FAILED";
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const codes = [...counts].map(
    ([code, times]) => `${oneLine(code, 64)}${counts.size > 1 ? ` (${times})` : ""}`,
  );
  const more = codes.length - MAX_NAMED;
  return [...codes.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more codes`] : [])].join(", ");
}

/** The same calls again, and where they would fail again, others in their place. */
function nextOf(
  { request, command }: DebugFacts,
  { say, action }: ReturnType<typeof stepAdvice>,
): NextStep[] {
  const isCorrected = action === "correct";
  const first = isCorrected ? "If the reason lay outside and is gone, call" : `${say}, call`;
  const again: NextStep = {
    say: `${first} exactly the failed items again; what completed is kept:`,
    command: command("retry", request.requestId),
  };
  if (!isCorrected || request.plan?.origin.kind !== "model") return [again];
  const anew = "Or have the planner make the rest anew, knowing what failed:";
  return [again, { say: anew, command: command("replan", request.requestId) }];
}
