import { Annotation } from "@langchain/langgraph";
import type { DraftResult } from "@planwright/models";
import type { Diagnostic, OpenDraft, Plan, ToolDescriptor } from "@planwright/plan";
import type { PlanDocument, PlanningClaim, RecordedError } from "@planwright/store";

/** A plan that can run, with the answer that it came from. */
export interface DoubtedDraft {
  plan: Plan;
  diagnostics: Diagnostic[];
  answer: DraftResult | null;
}

/**
 * What is known while one request is planned.
 * 1. `failure` and `plan` are never both set. 2. `repairs` counts calls already made to repair. 3. Once either is set, only `store` runs.
 */
export const PlanningState = Annotation.Root({
  claim: Annotation<PlanningClaim>,
  tools: Annotation<ToolDescriptor[]>,
  /** The latest answer. */
  answer: Annotation<DraftResult | null>,
  /** Set when the latest answer is a plan that can run. */
  plan: Annotation<Plan | null>,
  /** Findings about the latest answer. */
  diagnostics: Annotation<Diagnostic[]>,
  /** Findings about the answer before it; null when there was none. */
  earlierDiagnostics: Annotation<Diagnostic[] | null>,
  repairs: Annotation<number>,
  /** A plan that can run, kept while a repair is asked about fields that no earlier output had; null when there was no such doubt. */
  doubted: Annotation<DoubtedDraft | null>,
  /** True while the latest answer is a draft that was kept, with values of the user. */
  isFilled: Annotation<boolean>,
  /** The latest answer, where values that only the user can give are all that it lacks. */
  open: Annotation<OpenDraft | null>,
  /** What the model asks for; empty when it asks nothing. */
  asks: Annotation<string[]>,
  /** Why no plan can come out of this. */
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
