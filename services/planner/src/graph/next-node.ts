import type { RunnableConfig } from "@langchain/core/runnables";
import type { Diagnostic, DiagnosticCode } from "@planwright/plan";
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

/**
 * The error that users see when no repair succeeded. Diagnostics of the answer as a whole are written for the
 * model, and say what to answer; here they say what was answered. Pure.
 * @param text - the last answer
 */
export function invalidPlan(diagnostics: readonly Diagnostic[], text: string): RecordedError {
  const errors = diagnostics.filter((each) => each.severity === "error");
  const first = errors[0];
  if (first?.code === LEFT_OUT)
    return {
      code: "MODEL_ANSWER_TRUNCATED",
      message: "The model's answer leaves out parts of the plan, so it is not used",
    };
  if (first?.code === UNREADABLE) return { code: "MODEL_ANSWER_UNREADABLE", message: unreadable(text) };
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const why = (first && OF_ANSWER[first.code]) ?? first?.message ?? "the reason is unknown";
  return { code: "PLAN_INVALID", message: `The model gave no valid plan: ${why}${more}` };
}

/** What a diagnostic of the answer as a whole means for people. */
const OF_ANSWER: { readonly [code in DiagnosticCode]?: string } = {
  ANSWER_AMBIGUOUS: "its answer holds several plans, and it is not clear which one is meant",
  PLAN_SHAPE: "its answer is JSON, but not a plan",
  PLAN_EMPTY: "its plan has no steps",
};

/** Most characters of an answer that an error shows. */
const MAX_SHOWN = 200;

function unreadable(text: string): string {
  const shown = text
    .slice(0, 4 * MAX_SHOWN)
    .replace(/\s+/g, " ")
    .trim();
  if (shown === "") return "The model's answer is empty";
  // Half of a character at the end is not shown.
  const begins = shown.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, "");
  const what = /[[{]/.test(begins) ? "has JSON that cannot be read" : "is text without a plan";
  return `The model's answer ${what}; it ${begins === shown ? "is" : "begins"}: ${begins}`;
}
