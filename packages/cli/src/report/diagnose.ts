import { UNEXECUTED_REQUEST_STATUSES } from "@planwright/plan";
import type { DebugFacts } from "./debug-facts.ts";
import { diagnoseEnd } from "./diagnose-end.ts";
import { diagnosePlanning } from "./diagnose-planning.ts";
import { diagnoseRunning } from "./diagnose-running.ts";
import type { Diagnosis } from "./diagnosis.ts";

const UNEXECUTED: ReadonlySet<string> = new Set(UNEXECUTED_REQUEST_STATUSES);

/** What is the matter with a request, and what to do now. Pure. */
export function diagnose(facts: DebugFacts): Diagnosis {
  const { request } = facts;
  if (request.status === "EXECUTING" && request.plan) return diagnoseRunning(facts, request.plan);
  const wasStarted = request.plan !== null && request.plan.steps.length > 0;
  if (wasStarted && !UNEXECUTED.has(request.status)) {
    return diagnoseEnd(facts, request.plan);
  }
  return diagnosePlanning(facts);
}
