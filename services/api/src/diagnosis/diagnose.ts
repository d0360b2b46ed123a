import { UNEXECUTED_REQUEST_STATUSES } from "@planwright/plan";
import { diagnoseEnd } from "./diagnose-end.ts";
import { diagnosePlanning } from "./diagnose-planning.ts";
import { diagnoseRunning } from "./diagnose-running.ts";
import { type Diagnosis, toDiagnosis } from "./diagnosis.ts";
import type { DiagnosisFacts } from "./facts.ts";

const UNEXECUTED: ReadonlySet<string> = new Set(UNEXECUTED_REQUEST_STATUSES);

/** The cause of a request's state, and the next actions. Pure. */
export function diagnose(facts: DiagnosisFacts): Diagnosis {
  const { status, plan } = facts.request;
  if (status === "EXECUTING" && plan) return toDiagnosis(diagnoseRunning(facts, plan));
  const wasStarted = plan !== null && plan.steps.length > 0 && !UNEXECUTED.has(status);
  return toDiagnosis(wasStarted ? diagnoseEnd(facts, plan) : diagnosePlanning(facts));
}
