import type { StoreDependencies } from "../journal/dependencies.ts";
import { createLeaseTable } from "../leases/lease-table.ts";
import { readCatalogue } from "../tools/tool-catalogue.ts";
import { answerContracts, readLeftOut, takeContractAsk } from "../tools/tool-servers.ts";
import { createAnswering } from "./answering.ts";
import { createClaimRequests, MAX_PLANNING_CLAIMS } from "./claim-requests.ts";
import { createFirstPlan } from "./first-plan.ts";
import { createModelCalls } from "./model-calls.ts";
import { createPlanRecords } from "./plan-record.ts";
import { createPlannerClaims } from "./planner-claims.ts";
import type { ContractAskStore, PlanningClaim, PlanningStore } from "./planning-store.ts";
import { createPostponing } from "./postponing.ts";
import { createReplanning } from "./replanning.ts";

/** Claims requests and records the results of planning, fenced by the journal. */
export function createPlanningStore(context: StoreDependencies): PlanningStore & ContractAskStore {
  const claims = createPlannerClaims();
  const requestLeases = createLeaseTable("requests", context);
  const firstPlan = createFirstPlan(context, claims);
  const replanning = createReplanning(context, claims);
  const answering = createAnswering(context, claims);

  /** Ends a request that has killed all planners that claimed it. */
  function endPoisoned(claim: PlanningClaim): Promise<void> {
    const tries = `started ${MAX_PLANNING_CLAIMS} times and never finished`;
    const poisoned = (message: string) => ({ code: "POISONED", message });
    switch (claim.request.planning.work) {
      case "replan":
        return replanning.failReplan(claim, {
          error: poisoned(`Replanning was ${tries}; the plan that failed is still the current one`),
          diagnostics: [],
        });
      case "answer":
        return answering.failAnswer(
          claim,
          poisoned(`Writing the answer was ${tries}; the results are available`),
        );
      default:
        return firstPlan.failPlanning(claim, {
          error: poisoned(`Planning was ${tries}; nothing was executed`),
          diagnostics: claim.request.diagnostics,
          raw: null,
          plan: null,
          origin: { kind: "offline", model: null },
        });
    }
  }

  return {
    ...createClaimRequests(context, requestLeases, claims, endPoisoned),
    requestLeases,
    ...firstPlan,
    ...replanning,
    ...answering,
    ...createPostponing(context, claims),
    ...createModelCalls(context, claims),
    ...createPlanRecords(context),
    takeContractAsk: (planner) =>
      takeContractAsk(context.collections, planner, new Date(context.clock.now())),
    answerContracts: (taken, answer) => answerContracts(context.collections, taken, answer),
    toolCatalogue: (tenant) => readCatalogue(context.collections, tenant),
    leftOutTools: () => readLeftOut(context.collections),
  };
}
