import { graphql, type ResultOf } from "@planwright/client";

const BULK_ANSWER = graphql(`
  fragment BulkFacts on BulkAnswer {
    count changed refused mayRepeat hasMore endCursor
    results { requestId version status title changed error { code message remedy } }
  }
`);

/** The results of one call of a bulk mutation; of a dry run, what it would change. */
export type BulkFacts = ResultOf<typeof BULK_ANSWER>;
/** The result for one request. */
export type BulkResult = BulkFacts["results"][number];

export const CANCEL_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String) {
    answer: cancelRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);
export const RERUN_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String, $from: ID, $key: String) {
    answer: rerunRequests(
      filter: $filter, requests: $requests, dryRun: $dryRun, after: $after, from: $from, idempotencyKey: $key
    ) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);
export const RETRY_FAILED_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String, $key: String) {
    answer: retryFailedRequests(
      filter: $filter, requests: $requests, dryRun: $dryRun, after: $after, idempotencyKey: $key
    ) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);
