import type { RunnableConfig } from "@langchain/core/runnables";
import type { Drafter } from "@planwright/models";
import { type Diagnostic, type DiagnosticCode, wholeCharacters } from "@planwright/plan";
import type { RecordedError } from "@planwright/store";
import { LEFT_OUT, UNREADABLE } from "../drafts/check-draft.ts";
import type { PlanningState } from "./planning-state.ts";

/** Most repairs after the first draft. */
const MAX_REPAIRS = 2;

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
  const begins = wholeCharacters(shown, MAX_SHOWN);
  const what = /[[{]/.test(begins) ? "has JSON that cannot be read" : "is text without a plan";
  return `The model's answer ${what}; it ${begins === shown ? "is" : "begins"}: ${begins}`;
}

/*
 * A plan may be valid and still refer to fields that no earlier output had, or treat a value as a list that
 * never was one. Each such reference is reported to the model once. If the new answer is a valid plan, it is
 * used; otherwise the first plan is used. So a warning never loses a plan. It costs one call, or two when the
 * correction of a list reveals errors in its items.
 */

/** A reference is doubtful when at least this many earlier outputs contradict it. */
const MANY_OUTPUTS = 3;

type Update = Partial<PlanningState>;
type Before = Pick<PlanningState, "doubted" | "repairs" | "answer">;

/**
 * The state after an answer was checked: a doubtful plan is kept but not stored yet, and an invalid answer is
 * replaced by a kept plan. Pure.
 */
export function afterDoubt(before: Before, checked: Update, kind: Drafter["kind"]): Update {
  const { doubted, repairs, answer } = before;
  const { plan, diagnostics = [] } = checked;
  if (!plan) return doubted ? { ...doubted, failure: null, open: null, asks: [] } : checked;
  const doubts = diagnostics.filter(isDoubt);
  // The offline drafter would give the same answer again.
  if (doubts.length === 0 || kind !== "model" || repairs >= MAX_REPAIRS) return checked;
  const isReported = doubted
    ? doubts.some((each) => doubted.diagnostics.some(isSameReference(each)))
    : repairs > 0;
  if (isReported) return checked;
  // The diagnostics are of another kind than before, so they are no sign that the model repeats its errors.
  return { ...checked, plan: null, earlierDiagnostics: null, doubted: { plan, diagnostics, answer } };
}

const isSameReference =
  ({ stepId, path }: Diagnostic) =>
  (other: Diagnostic): boolean =>
    isDoubt(other) && other.stepId === stepId && other.path === path;

/** The state after a repair: when the repair failed, a kept plan is used. Pure. */
export function orDoubted({ doubted }: Before, repaired: Update): Update {
  return doubted && repaired.failure
    ? { ...repaired, ...doubted, failure: null, open: null, asks: [] }
    : repaired;
}

/** A complete output inside a text may be intended; it is doubtful only when a part of it fits better. */
function isDoubt({ code, observedIn = 0, suggestion }: Diagnostic): boolean {
  if (observedIn < MANY_OUTPUTS) return false;
  return code !== "REFERENCE_TYPE" || suggestion !== undefined;
}
