import { graphql, PLAN_FIELDS, REQUEST_FIELDS, type ResultOf, STEP_FIELDS } from "@planwright/client";

const STEP_RECORD = graphql(
  `fragment StepRecord on Step {
    ...StepFields arguments resolvedArguments output outputReference { ref sizeBytes preview } warnings
  }`,
  [STEP_FIELDS],
);

const REQUEST_RECORD = graphql(
  `fragment RequestRecord on Request {
    ...RequestFields title tags
    diagnostics { code severity stepId path message suggestion }
    diagnosis { cause { code severity message errorCode } reasons stepKeys since next { description operation arguments command } }
    openQuestions { id question stepId tool parameter schema }
    modelCalls { purpose model finishReason inputTokens outputTokens latencyMs error { code message } createdAt endedAt }
    plans { planId version status createdAt finishedAt error { code message } }
    plan { ...PlanFields raw document planHash outputs outputReferences { name ref sizeBytes preview } steps { ...StepRecord } }
  }`,
  [REQUEST_FIELDS, PLAN_FIELDS, STEP_RECORD],
);

/** A request with everything that reports show. */
export type RequestRecord = ResultOf<typeof REQUEST_RECORD>;
/** Its current plan. */
export type PlanRecord = NonNullable<RequestRecord["plan"]>;
/** One step, or one item of a forEach step. */
export type StepRecord = ResultOf<typeof STEP_RECORD>;
/** The API's diagnosis of the request. */
export type DiagnosisRecord = RequestRecord["diagnosis"];
/** One diagnostic of a plan. */
export type Diagnostic = Omit<RequestRecord["diagnostics"][number], "stepId" | "path" | "suggestion"> & {
  stepId?: string | null | undefined;
  path?: string | null | undefined;
  suggestion?: string | null | undefined;
};
/** A question of the planner that has no answer yet. */
export type OpenQuestion = RequestRecord["openQuestions"][number];
/** Replaces an output that is too large for a response of the API. */
export type OutputReference = NonNullable<StepRecord["outputReference"]>;
/** An error with its code. */
export interface Problem {
  code: string;
  message: string;
}

/** Reads a request with everything that reports show. */
export const READ_REQUEST = graphql(
  `query ($requestId: ID!) { request(requestId: $requestId) { ...RequestRecord } }`,
  [REQUEST_RECORD],
);

/** Everything recorded under a request, without secrets, as one document. */
export const READ_BUNDLE = graphql(`query ($requestId: ID!) { bundle: debugBundle(requestId: $requestId) }`);

/** The hash of a request's current plan. */
export const READ_PLAN_HASH = graphql(
  `query ($requestId: ID!) { request(requestId: $requestId) { plan { planHash version } } }`,
);
