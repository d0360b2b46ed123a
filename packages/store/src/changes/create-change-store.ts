import type { StoreDependencies } from "../journal/dependencies.ts";
import { createAmend } from "./amend.ts";
import { createAnswerQuestions } from "./answer-questions.ts";
import type { ChangeStore } from "./change-store.ts";
import { createQueuePlan } from "./queue-plan.ts";
import { createReplan } from "./replan.ts";
import { createRerun } from "./rerun.ts";

/** The part of the store by which clients change requests. */
export function createChangeStore(dependencies: StoreDependencies): ChangeStore {
  return {
    ...createQueuePlan(dependencies),
    ...createAnswerQuestions(dependencies),
    ...createReplan(dependencies),
    ...createRerun(dependencies),
    ...createAmend(dependencies),
  };
}
