/**
 * The one selection of a run: a request, its current plan, and the plan's steps. The command line, the console, the
 * demo and {@link FOLLOW_REQUEST} spread these fragments, and every function that shows a part of a run takes the
 * types that are inferred from them. A new field of a step is added to {@link STEP_RUN} and nowhere else.
 */
import { countText } from "@planwright/plan";
import type { ResultOf } from "gql.tada";
import { graphql } from "../schema/graphql.ts";

/** One try of a step. */
export const ATTEMPT_RUN = graphql(`
  fragment AttemptRun on Attempt {
    attempt attemptId executor startedAt endedAt durationMs outcome effect error { code message } unsent { tries since }
  }
`);

/** A step, or an item of a forEach step, without its values: see {@link STEP_VALUES}. */
export const STEP_RUN = graphql(
  `
  fragment StepRun on Step {
    id key item tool status dependsOn waitReason approved approvalHash settled { resolution by at } carriedFrom
    effectClass effect nextAttemptAt expiresAt startedAt finishedAt durationMs waitedForPeopleMs warnings
    error { code message retryable remedy }
    attempts { ...AttemptRun }
  }
`,
  [ATTEMPT_RUN],
);

/** The values of a step, which may be large: read them for the steps that are shown in full. */
export const STEP_VALUES = graphql(`
  fragment StepValues on Step {
    key arguments resolvedArguments resolvedArgumentsPreview { sizeBytes text }
    output outputReference { ref sizeBytes preview }
  }
`);

/** One diagnostic of a plan. */
export const DIAGNOSTIC = graphql(
  `fragment RunDiagnostic on Diagnostic { code severity stepId path message suggestion }`,
);

/** A version of a plan, without its steps, document and outputs. */
export const PLAN_RUN = graphql(
  `
  fragment PlanRun on Plan {
    planId version status waitReason executor epoch createdAt queuedAt startedAt finishedAt durationMs
    waitedForPeopleMs cancelRequestedAt pauseRequestedAt deadlineAt expiresAt
    origin { kind model } error { code message retryable remedy }
    counts { total completed failed skipped cancelled inDoubt running pending }
    diagnostics { ...RunDiagnostic }
    approvals { stepId approved approvalHash reason by at }
    resolutions { stepKey attempt resolution by at }
  }
`,
  [DIAGNOSTIC],
);

/** A request without its plan. */
export const REQUEST_RUN = graphql(
  `
  fragment RequestRun on Request {
    requestId planId status source query title tags version autoExecute maxReplans questions waitReason
    answerRequested answer answerError { code message remedy }
    createdAt planningStartedAt planningFinishedAt error { code message remedy } traceId traceUrl
    answers { question answer at }
    openQuestions { id question stepId tool parameter schema }
    modelWait { error { code message } since tries nextAttemptAt until }
    diagnostics { ...RunDiagnostic }
  }
`,
  [DIAGNOSTIC],
);

/** A request with its current plan and the plan's steps, without values: small enough to be followed. */
export const RUN = graphql(
  `fragment Run on Request { ...RequestRun plan { ...PlanRun steps { ...StepRun } } }`,
  [REQUEST_RUN, PLAN_RUN, STEP_RUN],
);

/** What a person or an agent reads about a request beside its run: the cause, its reasons, and what to do next. */
export const REQUEST_DIAGNOSIS = graphql(`
  fragment RequestDiagnosis on Request {
    diagnosis {
      cause { code severity message errorCode } reasons stepKeys since
      next { description operation arguments command }
    }
  }
`);

/** A request with its current plan. */
export type RequestRun = ResultOf<typeof RUN>;
/** A version of its plan, with its steps. */
export type PlanRun = NonNullable<RequestRun["plan"]>;
/** One step, or one item of a forEach step. */
export type StepRun = ResultOf<typeof STEP_RUN>;
/** The values of a step. */
export type StepValues = ResultOf<typeof STEP_VALUES>;
/** One diagnostic of a plan. */
export type RunDiagnostic = ResultOf<typeof DIAGNOSTIC>;
/** The API's diagnosis of a request. */
export type Diagnosis = ResultOf<typeof REQUEST_DIAGNOSIS>["diagnosis"];

const VERDICTS: Readonly<Record<Settlement["resolution"], string>> = {
  completed: "it completed",
  failed: "it failed",
  retry: "it did not happen",
};

/** How an operator settled a doubt, in words: "an operator (ann) said that it completed". */
export function settlementText({ by, resolution }: Pick<Settlement, "by" | "resolution">): string {
  return `an operator (${by}) said that ${VERDICTS[resolution]}`;
}

type Settlement = NonNullable<StepRun["settled"]>;

/** An attempt of which nothing was sent, in words: "nothing sent, tried 3 times". */
export function unsentText({ tries }: { tries: number }): string {
  return `nothing sent, tried ${countText(tries, "time")}`;
}

/** Reads a request once. */
export const READ_RUN = graphql(`query ($requestId: ID!) { request(requestId: $requestId) { ...Run } }`, [
  RUN,
]);

/** Sends a request now, and again after each change. */
export const FOLLOW_REQUEST = graphql(
  `subscription ($requestId: ID!) { request: requestUpdated(requestId: $requestId) { ...Run } }`,
  [RUN],
);
