import {
  DIAGNOSTIC,
  graphql,
  JOURNAL_EVENT,
  MODEL_CALL,
  PLAN_RUN,
  REQUEST_DIAGNOSIS,
  type ResultOf,
  RUN,
  STEP_RUN,
  STEP_VALUES,
} from "@planwright/client";

/** A request with its current plan and its diagnosis: everything that its page shows first. */
const REQUEST_PAGE = graphql(`fragment RequestPage on Request { ...Run ...RequestDiagnosis seq updatedAt }`, [
  RUN,
  REQUEST_DIAGNOSIS,
]);

/** A request as its page shows it. */
export type RequestPage = ResultOf<typeof REQUEST_PAGE>;

/** A request now, and after each change. */
export const FOLLOW_REQUEST = graphql(
  `
    subscription RequestUpdated($requestId: ID!) {
      requestUpdated(requestId: $requestId) {
        ...RequestPage
      }
    }
  `,
  [REQUEST_PAGE],
);

/** A request once. */
export const READ_REQUEST = graphql(
  `
    query Request($requestId: ID!) {
      request(requestId: $requestId) {
        ...RequestPage
      }
    }
  `,
  [REQUEST_PAGE],
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

/** The versions of a plan, newest first. */
export type Versions = NonNullable<ResultOf<typeof READ_VERSIONS>["request"]>["plansConnection"]["nodes"];

/** A request as it was at one entry of its journal; entry 0 is before the first one. */
export const READ_MOMENT = graphql(
  `
    query Moment($requestId: ID!, $seq: Int!) {
      request(requestId: $requestId, at: $seq) {
        seq
        at
        plan {
          ...PlanRun
          steps {
            ...StepRun
          }
        }
      }
    }
  `,
  [PLAN_RUN, STEP_RUN],
);

/** One version of a plan. */
export const READ_PLAN = graphql(
  `
    query PlanOfVersion($planId: ID!) {
      plan(id: $planId) {
        ...PlanRun
        steps {
          ...StepRun
        }
      }
    }
  `,
  [PLAN_RUN, STEP_RUN],
);

/** The outputs of a plan that has ended; a large one by reference. */
export const READ_RESULTS = graphql(`
    query Results($planId: ID!) {
      plan(id: $planId) {
        outputs
        outputReferences {
          name
          ref
          sizeBytes
          preview
        }
      }
    }
`);

/** Arguments and outputs of a step, or of those of its items that `filter` selects. */
export const READ_STEP = graphql(
  `
    query StepDetails($planId: ID!, $filter: StepFilter!) {
      plan(id: $planId) {
        stepsConnection(first: 100, filter: $filter) {
          nodes {
            ...StepValues
          }
        }
      }
    }
  `,
  [STEP_VALUES],
);

/** A page of the events of a journal. */
export const READ_JOURNAL = graphql(
  `
    query Journal($requestId: ID!, $first: Int!, $after: String) {
      events(requestId: $requestId, first: $first, after: $after) {
        nodes {
          ...RunEvent
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [JOURNAL_EVENT],
);

/** Limits and use of the model calls of a request. */
export const READ_MODEL_USE = graphql(`
    query ModelUse($requestId: ID!) {
      request(requestId: $requestId) {
        modelUse {
          limits {
            maxModelCalls
            maxTokens
            maxCostUsd
          }
          spent {
            modelCalls
            tokens
            costUsd
          }
          reserved {
            modelCalls
            tokens
            costUsd
          }
        }
      }
    }
`);

/** The newest versions, each with the model's answer that it was read from. */
export const READ_DRAFTS = graphql(
  `
    query Drafts($requestId: ID!) {
      request(requestId: $requestId) {
        plansConnection(first: 5) {
          nodes {
            version
            origin {
              kind
            }
            raw
            document
            diagnostics {
              ...RunDiagnostic
            }
          }
        }
      }
    }
  `,
  [DIAGNOSTIC],
);

/** The model calls of a request, with prompts and answers. */
export const READ_MODEL_CALLS = graphql(
  `
    query ModelCalls($requestId: ID!) {
      request(requestId: $requestId) {
        modelCallsConnection(first: 50) {
          nodes {
            ...ModelCallRun
          }
        }
      }
    }
  `,
  [MODEL_CALL],
);

/** The model calls for a request, without prompts and answers. */
export const READ_PLANNING_CALLS = graphql(`
    query PlanningCalls($requestId: ID!) {
      request(requestId: $requestId) {
        modelCallsConnection(first: 50) {
          nodes {
            id
            purpose
            model
            createdAt
            endedAt
            error {
              code
            }
          }
        }
      }
    }
`);

/** A model call with the fields of the timeline. */
export type PlanningCall = NonNullable<
  ResultOf<typeof READ_PLANNING_CALLS>["request"]
>["modelCallsConnection"]["nodes"][number];

/** Reads a version with its document, to compare it with another one. */
export const READ_DOCUMENT = graphql(
  `
    query PlanDocument($planId: ID!) {
      plan(id: $planId) {
        version
        document
        steps {
          ...StepRun
        }
      }
    }
`,
  [STEP_RUN],
);

/** A version with its document. */
export type VersionDocument = NonNullable<ResultOf<typeof READ_DOCUMENT>["plan"]>;

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
    mutation Rerun($requestId: ID!, $fromVersion: Int!, $acceptRepeat: [ID!], $idempotencyKey: String!) {
      rerun(
        requestId: $requestId
        fromVersion: $fromVersion
        acceptRepeat: $acceptRepeat
        idempotencyKey: $idempotencyKey
      ) {
        requestId
      }
    }
`);

/** A new version that a diagnosis suggests: an earlier plan, or the current one with a change. */
export const AMEND_AS_SUGGESTED = graphql(`
    mutation AmendAsSuggested(
      $requestId: ID!
      $fromVersion: Int!
      $restoreVersion: Int
      $patch: JSON
      $acceptRepeat: [ID!]
      $idempotencyKey: String!
    ) {
      amendPlan(
        requestId: $requestId
        fromVersion: $fromVersion
        restoreVersion: $restoreVersion
        patch: $patch
        acceptRepeat: $acceptRepeat
        execute: true
        idempotencyKey: $idempotencyKey
      ) {
        request {
          requestId
        }
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
    mutation ResolveInDoubt($requestId: ID!, $decisions: [InDoubtDecision!]!) {
      resolveManyInDoubt(requestId: $requestId, decisions: $decisions) {
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
    mutation CreatePlan(
      $query: String!
      $execute: Boolean!
      $tags: [String!]
      $maxReplans: Int! = 0
      $answer: Boolean! = false
      $limits: ModelLimitsInput
      $idempotencyKey: String!
    ) {
      createPlan(
        query: $query
        execute: $execute
        tags: $tags
        maxReplans: $maxReplans
        answer: $answer
        limits: $limits
        idempotencyKey: $idempotencyKey
      ) {
        requestId
      }
    }
`);
