import {
  graphql,
  PLAN_RUN,
  REQUEST_DIAGNOSIS,
  REQUEST_RUN,
  type ResultOf,
  STEP_RUN,
  STEP_VALUES,
} from "@planwright/client";

const REQUEST_RECORD = graphql(
  `fragment RequestRecord on Request {
    ...RequestRun ...RequestDiagnosis
    modelCalls { purpose model finishReason inputTokens outputTokens latencyMs error { code message } createdAt endedAt }
    plans { planId version status createdAt finishedAt error { code message } }
    plan {
      ...PlanRun raw document planHash outputs outputReferences { name ref sizeBytes preview }
      steps { ...StepRun ...StepValues }
    }
  }`,
  [REQUEST_RUN, REQUEST_DIAGNOSIS, PLAN_RUN, STEP_RUN, STEP_VALUES],
);

/** A request with everything that reports show: its run, with the values of its steps and the calls of models. */
export type RequestRecord = ResultOf<typeof REQUEST_RECORD>;
/** Its current plan. */
export type PlanRecord = NonNullable<RequestRecord["plan"]>;

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
