import { graphql, type ResultOf } from "@planwright/client";

const PROBLEM_FACTS = graphql(`
    fragment ProblemFacts on Problem {
      code
      message
      remedy
    }
`);

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
      effect
      approved
      approvalHash
      carriedFrom
      warnings
      nextAttemptAt
      expiresAt
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

/** A step or item, without its arguments and output. */
export type StepRow = ResultOf<typeof STEP_ROW>;

/** The fields of {@link PlanFacts}. */
export const PLAN_FACTS = graphql(
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
      waitedForPeopleMs
      deadlineAt
      expiresAt
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

/** The fields of {@link RequestFacts}. */
export const REQUEST_FACTS = graphql(
  `
    fragment RequestFacts on Request {
      requestId
      status
      source
      query
      title
      tags
      autoExecute
      maxReplans
      answerRequested
      version
      seq
      createdAt
      updatedAt
      planningStartedAt
      planningFinishedAt
      waitReason
      traceId
      traceUrl
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

/** A request with its current plan and its diagnosis: everything that its page shows first. */
export type RequestFacts = ResultOf<typeof REQUEST_FACTS>;
