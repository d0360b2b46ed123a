import { graphql } from "@planwright/client";

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
