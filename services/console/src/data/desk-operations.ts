import { DIAGNOSTIC, graphql, type ResultOf, STEP_RUN } from "@planwright/client";

/** A request that is open at the desk, now and after each change. */
export const FOLLOW_DRAFT = graphql(
  `
    subscription DraftUpdated($requestId: ID!) {
      requestUpdated(requestId: $requestId) {
        requestId
        status
        query
        title
        version
        seq
        waitReason
        createdAt
        questions
        error {
          code
          message
          remedy
        }
        plan {
          planId
          version
          status
          steps {
            ...StepRun
          }
        }
      }
    }
`,
  [STEP_RUN],
);

/** The answers of models, also the beginning of one that is still arriving. */
export const READ_DRAFTING = graphql(`
    query Drafting($requestId: ID!) {
      request(requestId: $requestId) {
        modelCallsConnection(first: 50) {
          nodes {
            id
            purpose
            model
            answer
            partialAnswer
            latencyMs
            outputTokens
            endedAt
            error {
              code
            }
          }
        }
      }
    }
`);

/** A call of a model, as drafting shows it. */
export type DraftingCall = NonNullable<
  ResultOf<typeof READ_DRAFTING>["request"]
>["modelCallsConnection"]["nodes"][number];

/** The fields of a request that the desk follows. */
export type DraftFacts = ResultOf<typeof FOLLOW_DRAFT>["requestUpdated"];

/** One version of a plan as a document, with the status of its steps. */
export const READ_DOCUMENT = graphql(
  `
    query PlanDocument($planId: ID!) {
      plan(id: $planId) {
        planId
        version
        status
        document
        planHash
        raw
        diagnostics {
          ...RunDiagnostic
        }
        steps {
          id
          item
          status
        }
      }
    }
  `,
  [DIAGNOSTIC],
);

/** A version of a plan with its document. */
export type DeskPlan = NonNullable<ResultOf<typeof READ_DOCUMENT>["plan"]>;

/** The schemas of the tools, for checks and completions. */
export const READ_TOOL_SCHEMAS = graphql(`
    query ToolSchemas {
      getAvailableTools {
        name
        description
        inputSchema
        outputSchema
        contract
        observedOutput {
          schema
        }
      }
    }
`);

export const VALIDATE_PLAN = graphql(
  `
    query ValidatePlan($plan: JSON!) {
      validatePlan(plan: $plan) {
        valid
        plan
        diagnostics {
          ...RunDiagnostic
        }
      }
    }
  `,
  [DIAGNOSTIC],
);

export const SUBMIT_PLAN = graphql(`
    mutation SubmitPlan($plan: JSON!, $query: String, $execute: Boolean!, $idempotencyKey: String!) {
      submitPlan(plan: $plan, query: $query, execute: $execute, idempotencyKey: $idempotencyKey) {
        requestId
      }
    }
`);

export const AMEND_PLAN = graphql(`
    mutation AmendPlan(
      $requestId: ID!
      $plan: JSON!
      $fromVersion: Int!
      $acceptRepeat: [ID!]
      $execute: Boolean!
      $idempotencyKey: String!
    ) {
      amendPlan(
        requestId: $requestId
        plan: $plan
        fromVersion: $fromVersion
        acceptRepeat: $acceptRepeat
        execute: $execute
        idempotencyKey: $idempotencyKey
      ) {
        request {
          planId
          version
        }
        carried
        repeated
        notRepeated
      }
    }
`);

/** The steps that a new version carries over, and the effects that it repeats. */
export type Amendment = ResultOf<typeof AMEND_PLAN>["amendPlan"];

/** Starts exactly the plan with this hash. */
export const EXECUTE_BY_HASH = graphql(`
    mutation ExecuteByHash($planId: ID!, $planHash: String) {
      executePlan(planId: $planId, planHash: $planHash) {
        requestId
      }
    }
`);
