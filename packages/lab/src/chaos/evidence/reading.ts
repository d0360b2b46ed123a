import { isDeepStrictEqual } from "node:util";
import {
  ENDED_REQUEST_STATUSES,
  isTerminalPlanStatus,
  isTerminalStepStatus,
  JsonValueSchema,
  PlanStatusSchema,
  RequestStatusSchema,
  StepStatusSchema,
} from "@planwright/plan";
import { z } from "zod";

/** The state of one request as a client read it. */
export const ReadingSchema = z.object({
  status: z.string(),
  planId: z.string(),
  error: z.object({ code: z.string() }).nullable(),
  plan: z
    .object({
      status: PlanStatusSchema,
      waitReason: z.string().nullable(),
      error: z.object({ code: z.string() }).nullable(),
      steps: z.array(
        z.object({
          key: z.string(),
          status: StepStatusSchema,
          output: JsonValueSchema.nullable(),
          /** Identifies the call that waits for approval. */
          approvalHash: z.string().nullish(),
          /** Present when the client asked for them. */
          attempts: z.array(z.object({ attempt: z.number() })).optional(),
        }),
      ),
    })
    .nullable(),
});
export type Reading = z.output<typeof ReadingSchema>;

/**
 * Statuses in the order in which a request passes through them, which is the order of the lifecycle table.
 */
const REQUEST_ORDER: readonly string[] = RequestStatusSchema.options;
const FINAL_REQUESTS: ReadonlySet<string> = new Set(ENDED_REQUEST_STATUSES);

/** True when the request changes no more by itself: it has ended, or its plan waits for an operator. */
export function isSettled({ status, plan }: Reading): boolean {
  return FINAL_REQUESTS.has(status) || (plan?.status === "WAITING" && plan.waitReason === "in doubt");
}

/**
 * Descriptions of everything that went back from one reading of a request to the next; empty without a
 * regression. Pure.
 */
export function regressionsBetween(before: Reading, after: Reading): string[] {
  const found: string[] = [];
  if (after.planId !== before.planId) found.push(`plan id changed from ${before.planId} to ${after.planId}`);
  const isBack = REQUEST_ORDER.indexOf(after.status) < REQUEST_ORDER.indexOf(before.status);
  if (after.status !== before.status && (FINAL_REQUESTS.has(before.status) || isBack)) {
    found.push(`request went from ${before.status} to ${after.status}`);
  }
  if (before.plan === null) return found;
  if (after.plan === null) return [...found, "the plan was there and is gone"];
  if (isTerminalPlanStatus(before.plan.status) && after.plan.status !== before.plan.status) {
    found.push(`plan went from ${before.plan.status} to ${after.plan.status}`);
  }
  const stepsAfter = new Map(after.plan.steps.map((step) => [step.key, step]));
  for (const step of before.plan.steps) {
    const next = stepsAfter.get(step.key);
    if (next === undefined) found.push(`step ${step.key} was there and is gone`);
    else if (!isTerminalStepStatus(step.status)) {
      if (next.status === "PENDING" && step.status === "RUNNING")
        found.push(`step ${step.key} went from RUNNING to PENDING`);
    } else if (next.status !== step.status) {
      found.push(`step ${step.key} went from ${step.status} to ${next.status}`);
    } else if (!isDeepStrictEqual(next.output, step.output)) {
      found.push(`step ${step.key} has another output than before`);
    }
  }
  return found;
}
