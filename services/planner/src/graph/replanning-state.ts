import { Annotation } from "@langchain/langgraph";
import type { PlanningClaim, PlanRecord } from "@planwright/store";
import { initialState, PlanningState } from "./planning-state.ts";

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
