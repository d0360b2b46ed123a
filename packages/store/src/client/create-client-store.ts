import { createAcceptance } from "../acceptance/acceptance.ts";
import { createDocumentReads } from "../read-group.ts";
import type { ClientStore } from "../store.ts";
import { createAnswerQuestions } from "./answer-questions.ts";
import { createApprove } from "./approve.ts";
import { createCancel } from "./cancel.ts";
import type { ClientContext } from "./context.ts";
import { createPause } from "./pause.ts";
import { createQueuePlan } from "./queue-plan.ts";
import { createReads } from "./reads.ts";
import { createReplan } from "./replan.ts";
import { createRerun } from "./rerun.ts";
import { createResolve } from "./resolve.ts";

/** Accepting, asking, reading: everything that clients and operators reach, bound to a tenant. */
export function createClientStore(parts: Omit<ClientContext, "readPlan">): ClientStore {
  const context = { ...parts, readPlan: createDocumentReads(parts.collections.plans) };
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
    ...createReads(context),
  };
}
