import { createAcceptance } from "../acceptance/acceptance.ts";
import { createAmend } from "../changes/amend.ts";
import { createAnswerQuestions } from "../changes/answer-questions.ts";
import { createQueuePlan } from "../changes/queue-plan.ts";
import { createReplan } from "../changes/replan.ts";
import { createRerun } from "../changes/rerun.ts";
import { createApprove } from "../controls/approve.ts";
import { createCancel } from "../controls/cancel.ts";
import { createPause } from "../controls/pause.ts";
import { createResolve } from "../controls/resolve.ts";
import { createReads } from "../reads/reads.ts";
import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";

/** Accepting, asking, reading: everything that clients and operators reach, bound to a tenant. */
export function createClientStore(context: ClientContext): ClientStore {
  return {
    ...createAcceptance(context),
    ...createQueuePlan(context),
    ...createCancel(context),
    ...createPause(context),
    ...createAnswerQuestions(context),
    ...createApprove(context),
    ...createResolve(context),
    ...createReplan(context),
    ...createRerun(context),
    ...createAmend(context),
    ...createReads(context),
  };
}
