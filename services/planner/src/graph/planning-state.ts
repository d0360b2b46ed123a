import { Annotation } from "@langchain/langgraph";
import type { DraftResult } from "@planwright/models";
import type { Diagnostic, LeftOutTool, Plan, ToolDescriptor } from "@planwright/plan";
import type { OpenDraft } from "@planwright/reading";
import type { PlanDocument, PlanningClaim, PlanRecord, RecordedError } from "@planwright/store";

/** A plan that can run, with the answer that contained it. */
export interface DoubtedDraft {
  plan: Plan;
  diagnostics: Diagnostic[];
  answer: DraftResult | null;
}

/**
 * The state while one request is planned.
 * 1. `failure` and `plan` are never both set.
 * 2. `repairs` counts the repair calls made so far.
 * 3. Once either is set, only `store` runs.
 */
export const PlanningState = Annotation.Root({
  claim: Annotation<PlanningClaim>,
  tools: Annotation<ToolDescriptor[]>,
  /** Tools that servers list and that no plan can use. */
  leftOut: Annotation<LeftOutTool[]>,
  /** The latest answer. */
  answer: Annotation<DraftResult | null>,
  /** Set when the latest answer is a plan that can run. */
  plan: Annotation<Plan | null>,
  /** Diagnostics of the latest answer. */
  diagnostics: Annotation<Diagnostic[]>,
  /** Diagnostics of the previous answer; null when there was none. */
  earlierDiagnostics: Annotation<Diagnostic[] | null>,
  repairs: Annotation<number>,
  /** A valid plan, kept while the model repairs doubtful references; null when there was no doubt. */
  doubted: Annotation<DoubtedDraft | null>,
  /** True while the latest answer is a kept draft, filled with values of the user. */
  isFilled: Annotation<boolean>,
  /** The latest answer, when only values are missing that the user can give. */
  open: Annotation<OpenDraft | null>,
  /** The questions of the model; empty when it asks nothing. */
  asks: Annotation<string[]>,
  /** Why the request cannot be planned. */
  failure: Annotation<RecordedError | null>,
  /** The plan as stored. */
  stored: Annotation<PlanDocument | null>,
});
/** See {@link PlanningState}. */
export type PlanningState = typeof PlanningState.State;

/** The state at the beginning. */
export function initialState(claim: PlanningClaim): PlanningState {
  return {
    claim,
    tools: [],
    leftOut: [],
    answer: null,
    plan: null,
    diagnostics: [],
    earlierDiagnostics: null,
    repairs: 0,
    doubted: null,
    isFilled: false,
    open: null,
    asks: [],
    failure: null,
    stored: null,
  };
}

/** The state while one plan is replanned: as for a first plan, and the record of the plan that failed. */
export const ReplanningState = Annotation.Root({
  ...PlanningState.spec,
  /** Null until it is read. */
  record: Annotation<PlanRecord | null>,
});
/** See {@link ReplanningState}. */
export type ReplanningState = typeof ReplanningState.State;

/** The state at the beginning. */
export function initialReplan(claim: PlanningClaim): ReplanningState {
  return { ...initialState(claim), record: null };
}
