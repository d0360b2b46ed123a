import type { RunnableConfig } from "@langchain/core/runnables";
import type { Diagnostic } from "@planwright/plan";
import type { RecordedError } from "@planwright/store";
import { LEFT_OUT, UNREADABLE } from "../drafts/check-draft.ts";
import type { PlanningState } from "./planning-state.ts";

/** Most repairs after the first draft. */
export const MAX_REPAIRS = 2;

/** The signal that aborts the work of a node. The library types it as optional. */
export function signalOf({ signal }: Pick<RunnableConfig, "signal">): AbortSignal {
  return signal ?? new AbortController().signal;
}

/**
 * The next node after a draft was checked. It is a repair if the diagnostics are new, repairs are left, and
 * the model asks no question.
 */
export function afterCheck(
  state: Pick<PlanningState, "plan" | "failure" | "repairs" | "diagnostics" | "earlierDiagnostics" | "asks">,
  kind: "model" | "offline",
): "repair" | "store" {
  const isDone = state.plan !== null || state.failure !== null;
  if (isDone || kind !== "model" || state.repairs >= MAX_REPAIRS) return "store";
  return state.asks.length > 0 || isRepeated(state) ? "store" : "repair";
}

/** A drafter that repeated its errors would repeat them again. */
const isRepeated = ({
  diagnostics,
  earlierDiagnostics,
}: Pick<PlanningState, "diagnostics" | "earlierDiagnostics">) =>
  earlierDiagnostics !== null && fingerprint(diagnostics) === fingerprint(earlierDiagnostics);

const fingerprint = (diagnostics: readonly Diagnostic[]) =>
  diagnostics
    .filter((each) => each.severity === "error")
    // A diagnostic without a path quotes the answer, so a different text alone is not progress.
    .map(({ code, stepId, path, message }) => JSON.stringify([code, stepId, path, path && message]))
    .toSorted()
    .join("\n");

/** The error that users see when no repair succeeded. */
export function invalidPlan(diagnostics: readonly Diagnostic[]): RecordedError {
  const errors = diagnostics.filter((each) => each.severity === "error");
  const first = errors[0];
  if (first?.code === LEFT_OUT) return { code: "MODEL_ANSWER_TRUNCATED", message: first.message };
  if (first?.code === UNREADABLE) return { code: "MODEL_ANSWER_UNREADABLE", message: first.message };
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return {
    code: "PLAN_INVALID",
    message: `The model gave no valid plan: ${first?.message ?? "the reason is unknown"}${more}`,
  };
}
