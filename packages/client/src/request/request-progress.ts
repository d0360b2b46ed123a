import type { ResultOf } from "gql.tada";
import { graphql } from "../schema/graphql.ts";

/** A step without its arguments and output. */
export const STEP_FIELDS = graphql(`
  fragment StepFields on Step {
    id key item tool status dependsOn waitReason approvalHash settled { resolution by at } carriedFrom effectClass effect
    nextAttemptAt expiresAt startedAt finishedAt durationMs waitedForPeopleMs warnings
    error { code message retryable }
    attempts { attempt executor startedAt endedAt durationMs outcome effect error { code message } unsent { tries since } }
  }
`);

/** A plan without its document, steps and outputs. */
export const PLAN_FIELDS = graphql(`
  fragment PlanFields on Plan {
    planId version status waitReason executor epoch createdAt queuedAt startedAt finishedAt durationMs
    waitedForPeopleMs cancelRequestedAt pauseRequestedAt deadlineAt expiresAt
    origin { kind model } error { code message }
    approvals { stepId approved approvalHash reason by at }
    resolutions { stepKey attempt resolution by at }
  }
`);

/** A request without its plan. */
export const REQUEST_FIELDS = graphql(`
  fragment RequestFields on Request {
    requestId planId status source query version autoExecute questions waitReason
    answerRequested answer answerError { code message }
    createdAt planningStartedAt planningFinishedAt error { code message }
    answers { question answer at }
    modelWait { error { code message } since tries nextAttemptAt until }
  }
`);

const REQUEST_PROGRESS = graphql(
  `fragment RequestProgress on Request { ...RequestFields plan { ...PlanFields steps { ...StepFields } } }`,
  [REQUEST_FIELDS, PLAN_FIELDS, STEP_FIELDS],
);

/**
 * A request with its current plan, without arguments, outputs and documents: small enough to be read
 * repeatedly while a client follows it.
 */
export type RequestProgress = ResultOf<typeof REQUEST_PROGRESS>;
/** Its current plan. */
export type PlanProgress = NonNullable<RequestProgress["plan"]>;
/** One step, or one item of a forEach step. */
export type StepProgress = ResultOf<typeof STEP_FIELDS>;

/** Reads a request once. */
export const READ_PROGRESS = graphql(
  `query ($requestId: ID!) { request(requestId: $requestId) { ...RequestProgress } }`,
  [REQUEST_PROGRESS],
);

/** Sends a request now, and again after each change. */
export const FOLLOW_REQUEST = graphql(
  `subscription ($requestId: ID!) { request: requestUpdated(requestId: $requestId) { ...RequestProgress } }`,
  [REQUEST_PROGRESS],
);
