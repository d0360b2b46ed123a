import { DIAGNOSTIC, graphql, type Operation, type ResultOf } from "@planwright/client";

const ACCEPTED = graphql(`fragment Accepted on Request { requestId planId status version plan { status } }`);
/** The fields that a mutation returns of the request that it changed. */
export type Accepted = ResultOf<typeof ACCEPTED>;
/** A mutation that answers with the request that it changed. */
export type Change<Variables> = Operation<{ accepted: Accepted }, Variables>;

export const CREATE_PLAN = graphql(
  `mutation (
    $query: String!, $context: ContextInput, $profile: String, $policy: JSON,
    $execute: Boolean!, $tags: [String!], $priority: Priority! = normal, $maxReplans: Int! = 0, $answer: Boolean! = false, $limits: ModelLimitsInput, $key: String!
  ) {
    accepted: createPlan(
      query: $query, context: $context, profile: $profile, policy: $policy,
      execute: $execute, tags: $tags, priority: $priority, maxReplans: $maxReplans, answer: $answer, limits: $limits, idempotencyKey: $key
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const SUBMIT_PLAN = graphql(
  `mutation (
    $plan: JSON!, $query: String,
    $execute: Boolean!, $tags: [String!], $priority: Priority! = normal, $maxReplans: Int! = 0, $answer: Boolean! = false, $limits: ModelLimitsInput, $key: String!
  ) {
    accepted: submitPlan(
      plan: $plan, query: $query,
      execute: $execute, tags: $tags, priority: $priority, maxReplans: $maxReplans, answer: $answer, limits: $limits, idempotencyKey: $key
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const EXECUTE_PLAN = graphql(
  `mutation ($requestId: ID!, $hash: String) {
    accepted: executePlan(requestId: $requestId, planHash: $hash) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const CANCEL = graphql(
  `mutation ($requestId: ID!) { accepted: cancel(requestId: $requestId) { ...Accepted } }`,
  [ACCEPTED],
);
export const PAUSE = graphql(
  `mutation ($requestId: ID!) { accepted: pause(requestId: $requestId) { ...Accepted } }`,
  [ACCEPTED],
);
export const RESUME = graphql(
  `mutation ($requestId: ID!) { accepted: resume(requestId: $requestId) { ...Accepted } }`,
  [ACCEPTED],
);
export const RERUN = graphql(
  `mutation ($requestId: ID!, $from: ID, $arguments: [StepArguments!], $acceptRepeat: [ID!], $key: String!) {
    accepted: rerun(
      requestId: $requestId, from: $from, arguments: $arguments, acceptRepeat: $acceptRepeat, execute: true, idempotencyKey: $key
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const REPLAN = graphql(
  `mutation ($requestId: ID!, $note: String, $key: String!) {
    accepted: replan(requestId: $requestId, note: $note, idempotencyKey: $key) { ...Accepted }
  }`,
  [ACCEPTED],
);
/**
 * Also returns which completed steps are kept and which are called again; null when the same amendment was
 * made before.
 */
export const AMEND_PLAN = graphql(
  `mutation (
    $requestId: ID!, $plan: JSON, $patch: JSON, $restoreVersion: Int, $fromVersion: Int, $acceptRepeat: [ID!],
    $execute: Boolean!, $key: String!
  ) {
    amended: amendPlan(
      requestId: $requestId, plan: $plan, patch: $patch, restoreVersion: $restoreVersion,
      fromVersion: $fromVersion, acceptRepeat: $acceptRepeat, execute: $execute, idempotencyKey: $key
    ) {
      request { ...Accepted } carried repeated notRepeated
    }
  }`,
  [ACCEPTED],
);
export const ANSWER_QUESTIONS = graphql(
  `mutation ($requestId: ID!, $answers: [String!]!) {
    accepted: answerQuestions(requestId: $requestId, answers: $answers) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const APPROVE = graphql(
  `mutation ($requestId: ID!, $stepId: ID!, $hash: String!, $approved: Boolean!, $reason: String) {
    accepted: approve(requestId: $requestId, stepId: $stepId, approvalHash: $hash, approved: $approved, reason: $reason) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const RESOLVE_IN_DOUBT = graphql(
  `mutation (
    $requestId: ID!, $key: ID!, $resolution: InDoubtResolution!, $output: JSON, $reason: String, $attempt: Int
  ) {
    accepted: resolveInDoubt(
      requestId: $requestId, stepKey: $key, resolution: $resolution, output: $output, reason: $reason, attempt: $attempt
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);

/** The diagnostics that submitting the plan would give; nothing is stored. */
export const VALIDATE_PLAN = graphql(
  `query ($plan: JSON!) {
    check: validatePlan(plan: $plan) { valid diagnostics { ...RunDiagnostic } }
  }`,
  [DIAGNOSTIC],
);
