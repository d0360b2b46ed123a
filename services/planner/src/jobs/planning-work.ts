import { createPriceList } from "@planwright/models";
import type { ModelWait, PlanDocument, PlanningClaim } from "@planwright/store";
import { type AnswerParts, answerRequest } from "../answer/answer-request.ts";
import { PostponedError } from "../calls/postpone.ts";
import { createPlanningGraph, type PlanningParts } from "../graph/planning-graph.ts";
import { initialReplan, initialState } from "../graph/planning-state.ts";
import { createReplanningGraph, type ReplanningParts } from "../graph/replanning-graph.ts";

/** How the work on one claim ended. */
export type WorkResult =
  | { type: "planned"; plan: PlanDocument }
  | { type: "answered" }
  /** The model is away. The request is claimed again when it is to be tried again. */
  | ({ type: "postponed" } & Pick<ModelWait, "error" | "nextAttemptAt" | "until">)
  | { type: "failed"; code: string; message: string };

/** Does the work that a claimed request waits for. */
export type PlanningWorker = (claim: PlanningClaim, signal: AbortSignal) => Promise<WorkResult>;

/** Dependencies of {@link createPlanningWork}. */
export type PlanningWorkParts = PlanningParts & ReplanningParts & { store: AnswerParts["store"] };

/** The work of a planner: first plans, replans after a failure, and answers in words. */
export function createPlanningWork(parts: PlanningWorkParts): PlanningWorker {
  const prices = parts.prices ?? createPriceList({});
  const planning = createPlanningGraph({ ...parts, prices });
  const replanning = createReplanningGraph({ ...parts, prices });

  return async (claim, signal) => {
    try {
      return await workOn(claim, signal);
    } catch (error) {
      if (error instanceof PostponedError) return { type: "postponed", ...error.facts };
      throw error;
    }
  };

  async function workOn(claim: PlanningClaim, signal: AbortSignal): Promise<WorkResult> {
    switch (claim.request.planning.work) {
      case "answer": {
        const error = await answerRequest({ ...parts, prices }, claim, signal);
        return error ? { type: "failed", ...error } : { type: "answered" };
      }
      case "replan":
        return endOf(await replanning.invoke(initialReplan(claim), { signal }));
      default:
        return endOf(await planning.invoke(initialState(claim), { signal }));
    }
  }
}

function endOf(state: {
  stored: PlanDocument | null;
  failure: { code: string; message: string } | null;
}): WorkResult {
  if (state.stored) return { type: "planned", plan: state.stored };
  const { code, message } = state.failure ?? { code: "PLAN_INVALID", message: "The plan has errors" };
  return { type: "failed", code, message };
}
