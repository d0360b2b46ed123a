import { ATTEMPT_RUN, graphql, type PlanRun, type ResultOf } from "@planwright/client";
import { type READ_VERSIONS } from "./request-operations.ts";

/** The part of a plan that the views show, now or at an earlier moment. */
export type ShownPlan = Pick<
  PlanRun,
  | "planId"
  | "version"
  | "startedAt"
  | "finishedAt"
  | "durationMs"
  | "waitedForPeopleMs"
  | "error"
  | "counts"
  | "steps"
> & {
  /** Null: at that moment nothing was recorded about its execution. */
  status: string | null;
};

/** The versions of a plan, newest first. */
export type Versions = NonNullable<ResultOf<typeof READ_VERSIONS>["request"]>["plansConnection"]["nodes"];

/** A request as it was at one entry of its journal. */
export const READ_MOMENT = graphql(
  `
    query Moment($requestId: ID!, $seq: Int!) {
      request(requestId: $requestId, at: $seq) {
        seq
        at
        plan {
          planId
          version
          status
          startedAt
          finishedAt
          durationMs
          waitedForPeopleMs
          error {
            code
            message
            retryable
            remedy
          }
          counts {
            total
            completed
            failed
            skipped
            cancelled
            inDoubt
            running
            pending
          }
          steps {
            id
            key
            item
            tool
            status
            dependsOn
            waitReason
            effectClass
            effect
            approved
            carriedFrom
            warnings
            nextAttemptAt
            startedAt
            finishedAt
            durationMs
            waitedForPeopleMs
            error {
              code
              message
              retryable
              remedy
            }
            attempts {
              ...AttemptRun
            }
          }
        }
      }
    }
  `,
  [ATTEMPT_RUN],
);

type RequestAt = NonNullable<ResultOf<typeof READ_MOMENT>["request"]>;

/** A request at one entry of its journal. */
export interface Moment {
  /** The entry; 0 is before the first one. */
  seq: number;
  /** When the entry was written, in milliseconds; null before the first one. */
  atMs: number | null;
  plan: ShownPlan | null;
}

/** The answer of the API in the shape of the views, without the fields that are only for decisions now. */
export function toMoment({ seq, at, plan }: RequestAt): Moment {
  const atMs = at === null ? null : Date.parse(at);
  if (!plan) return { seq, atMs, plan: null };
  const steps = plan.steps.map((step) => ({ ...step, approvalHash: null, expiresAt: null, settled: null }));
  return { seq, atMs, plan: { ...plan, steps } };
}
