import { graphql, type ResultOf, type VariablesOf } from "@planwright/client";

/** The newest failed requests, with the fields that grouping needs. */
export const READ_FAILURES = graphql(`
    query Failures {
      requests(first: 60, filter: { status: [FAILED, PARTIAL] }) {
        nodes {
          requestId
          title
          updatedAt
          error {
            code
          }
          plan {
            mayHaveActed
            error {
              code
            }
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
`);

/** A failed request. */
export type FailedRequest = ResultOf<typeof READ_FAILURES>["requests"]["nodes"][number];

/** The next action for one request. */
export const READ_NEXT_ACTION = graphql(`
    query NextAction($requestId: ID!) {
      request(requestId: $requestId) {
        diagnosis {
          cause {
            message
          }
          next {
            description
          }
        }
      }
    }
`);

const BULK_ANSWER = graphql(`
    fragment BulkFacts on BulkAnswer {
      dryRun
      changed
      refused
      mayRepeat
      hasMore
      endCursor
      results {
        requestId
        version
        status
        title
        changed
        error {
          code
          message
          remedy
        }
      }
    }
`);

/** The results of a bulk mutation; of a dry run, what it would change. */
export type BulkFacts = ResultOf<typeof BULK_ANSWER>;

export const CANCEL_REQUESTS = graphql(
  `
    mutation CancelRequests($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String) {
      cancelRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after) {
        ...BulkFacts
      }
    }
  `,
  [BULK_ANSWER],
);

export const RERUN_REQUESTS = graphql(
  `
    mutation RerunRequests($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String, $idempotencyKey: String) {
      rerunRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after, idempotencyKey: $idempotencyKey) {
        ...BulkFacts
      }
    }
  `,
  [BULK_ANSWER],
);

export const RETRY_FAILED_REQUESTS = graphql(
  `
    mutation RetryFailedRequests($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String, $idempotencyKey: String) {
      retryFailedRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after, idempotencyKey: $idempotencyKey) {
        ...BulkFacts
      }
    }
  `,
  [BULK_ANSWER],
);

/** The requests of a bulk mutation: a filter for the preview, the previewed requests for the change. */
export type BulkVariables = VariablesOf<typeof RERUN_REQUESTS>;
