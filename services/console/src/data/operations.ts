import { graphql, type ResultOf } from "@planwright/client";

const PROBLEM_FACTS = graphql(`
    fragment ProblemFacts on Problem {
      code
      message
      remedy
    }
`);

const REQUEST_ROW = graphql(`
    fragment RequestRow on Request {
      requestId
      status
      source
      query
      tags
      version
      createdAt
      updatedAt
      error {
        code
      }
      plan {
        status
        waitReason
        durationMs
        error {
          code
        }
        counts {
          total
          completed
          failed
          inDoubt
          running
        }
      }
    }
`);

/** One line of a list of requests. */
export type RequestRow = ResultOf<typeof REQUEST_ROW>;

const STEP_ROW = graphql(`
    fragment StepRow on Step {
      id
      key
      item
      tool
      status
      dependsOn
      waitReason
      effectClass
      approved
      approvalHash
      carriedFrom
      warnings
      nextAttemptAt
      startedAt
      finishedAt
      durationMs
      error {
        code
        message
        retryable
        remedy
      }
      settled {
        resolution
        by
        at
      }
      attempts {
        attempt
        attemptId
        executor
        startedAt
        endedAt
        durationMs
        outcome
        error {
          code
          message
        }
        unsent {
          tries
          since
        }
      }
    }
`);

/** A step or item, without what may be large. */
export type StepRow = ResultOf<typeof STEP_ROW>;

const PLAN_FACTS = graphql(
  `
    fragment PlanFacts on Plan {
      planId
      version
      status
      waitReason
      executor
      origin {
        kind
        model
      }
      createdAt
      queuedAt
      startedAt
      finishedAt
      durationMs
      deadlineAt
      cancelRequestedAt
      pauseRequestedAt
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
      diagnostics {
        code
        severity
        stepId
        path
        message
        suggestion
      }
      steps {
        ...StepRow
      }
    }
  `,
  [STEP_ROW],
);

/** A version of a plan with its steps. */
export type PlanFacts = ResultOf<typeof PLAN_FACTS>;

const REQUEST_FACTS = graphql(
  `
    fragment RequestFacts on Request {
      requestId
      status
      source
      query
      tags
      version
      seq
      createdAt
      updatedAt
      planningStartedAt
      planningFinishedAt
      waitReason
      answer
      error {
        ...ProblemFacts
      }
      answerError {
        ...ProblemFacts
      }
      diagnostics {
        code
        severity
        stepId
        path
        message
        suggestion
      }
      diagnosis {
        cause {
          code
          severity
          message
          errorCode
        }
        reasons
        stepKeys
        since
        next {
          description
          operation
          arguments
          command
        }
      }
      openQuestions {
        id
        question
        stepId
        tool
        parameter
        schema
      }
      plan {
        ...PlanFacts
      }
    }
  `,
  [PROBLEM_FACTS, PLAN_FACTS],
);

/** A request with its current plan and its diagnosis: all that its page shows at first. */
export type RequestFacts = ResultOf<typeof REQUEST_FACTS>;

const NEEDED_REQUESTS = graphql(`
    fragment NeededRequests on RequestConnection {
      nodes {
        requestId
        query
      }
      pageInfo {
        hasNextPage
      }
    }
`);

/** A page of requests, newest first. */
export const READ_REQUESTS = graphql(
  `
    query Requests($first: Int!, $after: String, $filter: RequestFilter) {
      requests(first: $first, after: $after, filter: $filter) {
        nodes {
          ...RequestRow
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [REQUEST_ROW],
);

/** The newest requests of each kind that only a person can move on; the rest is one click away. */
export const READ_NEEDS = graphql(
  `
    query Needs {
      APPROVAL: requests(first: 5, filter: { needs: APPROVAL }) {
        ...NeededRequests
      }
      DOUBT: requests(first: 5, filter: { needs: DOUBT }) {
        ...NeededRequests
      }
      ANSWER: requests(first: 5, filter: { needs: ANSWER }) {
        ...NeededRequests
      }
    }
  `,
  [NEEDED_REQUESTS],
);

/** What changes of a list of requests. */
export const FOLLOW_REQUESTS = graphql(
  `
    subscription RequestsUpdated($filter: RequestFilter) {
      requestsUpdated(filter: $filter) {
        kind
        requestId
        request {
          ...RequestRow
        }
      }
    }
  `,
  [REQUEST_ROW],
);

/** A request now, and after each change. */
export const FOLLOW_REQUEST = graphql(
  `
    subscription RequestUpdated($requestId: ID!) {
      requestUpdated(requestId: $requestId) {
        ...RequestFacts
      }
    }
  `,
  [REQUEST_FACTS],
);

/** A request once. */
export const READ_REQUEST = graphql(
  `
    query Request($requestId: ID!) {
      request(requestId: $requestId) {
        ...RequestFacts
      }
    }
  `,
  [REQUEST_FACTS],
);

/** The versions of a plan. */
export const READ_VERSIONS = graphql(`
    query Versions($requestId: ID!) {
      request(requestId: $requestId) {
        plansConnection(first: 100) {
          nodes {
            planId
            version
            status
          }
        }
      }
    }
`);

/** One version of a plan. */
export const READ_PLAN = graphql(
  `
    query PlanOfVersion($planId: ID!) {
      plan(id: $planId) {
        ...PlanFacts
      }
    }
  `,
  [PLAN_FACTS],
);

/** Arguments and outputs of a step and its items. */
export const READ_STEP = graphql(`
    query StepDetails($planId: ID!, $stepId: ID!, $after: String) {
      plan(id: $planId) {
        stepsConnection(first: 50, after: $after, filter: { stepId: $stepId }) {
          nodes {
            key
            arguments
            resolvedArguments
            resolvedArgumentsPreview {
              sizeBytes
              text
            }
            output
            outputReference {
              ref
              sizeBytes
              preview
            }
          }
        }
      }
    }
`);

/** A page of what happened. */
export const READ_JOURNAL = graphql(`
    query Journal($requestId: ID!, $first: Int!, $after: String) {
      events(requestId: $requestId, first: $first, after: $after) {
        nodes {
          id
          seq
          at
          by {
            kind
            id
          }
          planId
          type
          stepId
          key
          attempt
          status
          reason
          error {
            code
            message
          }
          facts
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
`);

/** What models were asked and answered. */
export const READ_MODEL_CALLS = graphql(`
    query ModelCalls($requestId: ID!) {
      request(requestId: $requestId) {
        modelCallsConnection(first: 50) {
          nodes {
            id
            purpose
            model
            messages {
              role
              content
            }
            answer
            finishReason
            inputTokens
            outputTokens
            cachedInputTokens
            latencyMs
            costUsd
            pricing
            attempt
            error {
              code
              message
            }
            createdAt
            endedAt
          }
        }
      }
    }
`);

export const CANCEL = graphql(`
    mutation Cancel($requestId: ID!) {
      cancel(requestId: $requestId) {
        requestId
      }
    }
`);

export const PAUSE = graphql(`
    mutation Pause($requestId: ID!) {
      pause(requestId: $requestId) {
        requestId
      }
    }
`);

export const RESUME = graphql(`
    mutation Resume($requestId: ID!) {
      resume(requestId: $requestId) {
        requestId
      }
    }
`);

export const EXECUTE_PLAN = graphql(`
    mutation ExecutePlan($planId: ID!) {
      executePlan(planId: $planId) {
        requestId
      }
    }
`);

export const RERUN = graphql(`
    mutation Rerun($requestId: ID!, $fromVersion: Int!, $idempotencyKey: String!) {
      rerun(requestId: $requestId, fromVersion: $fromVersion, idempotencyKey: $idempotencyKey) {
        requestId
      }
    }
`);

export const REPLAN = graphql(`
    mutation Replan($requestId: ID!, $fromVersion: Int!, $idempotencyKey: String!) {
      replan(requestId: $requestId, fromVersion: $fromVersion, idempotencyKey: $idempotencyKey) {
        requestId
      }
    }
`);

export const APPROVE = graphql(`
    mutation Approve(
      $requestId: ID!
      $stepId: ID!
      $approvalHash: String!
      $approved: Boolean!
      $reason: String
    ) {
      approve(
        requestId: $requestId
        stepId: $stepId
        approvalHash: $approvalHash
        approved: $approved
        reason: $reason
      ) {
        requestId
      }
    }
`);

export const RESOLVE_IN_DOUBT = graphql(`
    mutation ResolveInDoubt(
      $requestId: ID!
      $stepKey: ID!
      $attempt: Int!
      $resolution: InDoubtResolution!
      $output: JSON
      $reason: String
    ) {
      resolveInDoubt(
        requestId: $requestId
        stepKey: $stepKey
        attempt: $attempt
        resolution: $resolution
        output: $output
        reason: $reason
      ) {
        requestId
      }
    }
`);

export const ANSWER_QUESTIONS = graphql(`
    mutation AnswerQuestions($requestId: ID!, $answers: [String!]!) {
      answerQuestions(requestId: $requestId, answers: $answers) {
        requestId
      }
    }
`);

export const CREATE_PLAN = graphql(`
    mutation CreatePlan($query: String!, $execute: Boolean!, $idempotencyKey: String!) {
      createPlan(query: $query, execute: $execute, idempotencyKey: $idempotencyKey) {
        requestId
      }
    }
`);
