import { createAcceptance } from "../acceptance/acceptance.ts";
import { createApprove } from "../controls/approve.ts";
import { createCancel } from "../controls/cancel.ts";
import { createPause } from "../controls/pause.ts";
import { createResolve } from "../controls/resolve.ts";
import type { ClientStore } from "../store.ts";
import { createAmend } from "./amend.ts";
import { createAnswerQuestions } from "./answer-questions.ts";
import type { ClientContext } from "./context.ts";
import { createQueuePlan } from "./queue-plan.ts";
import { createReads } from "./reads.ts";
import { createReplan } from "./replan.ts";
import { createRerun } from "./rerun.ts";

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
