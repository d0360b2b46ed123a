import { graphql, type ResultOf, type VariablesOf } from "@planwright/client";

/** The newest failed requests, with the fields that grouping needs. */
export const READ_FAILURES = graphql(`
    query Failures {
      requests(first: 60, filter: { status: [FAILED, PARTIAL] }) {
        nodes {
          requestId
          version
          title
          updatedAt
          error {
            code
            message
          }
          plan {
            mayHaveActed
            error {
              code
              message
            }
            counts {
              completed
              total
            }
            stepsConnection(first: 1, filter: { status: FAILED }) {
              nodes {
                tool
              }
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

export const RESUME_REQUESTS = graphql(
  `
    mutation ResumeRequests($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String) {
      resumeRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after) {
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

const REQUEST_ROW = graphql(`
    fragment RequestRow on Request {
      requestId
      status
      source
      title
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
        mayHaveActed
        expiresAt
        startedAt
        durationMs
        waitedForPeopleMs
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

const NEEDED = graphql(`
    fragment Needed on RequestConnection {
      nodes {
        requestId
        title
        updatedAt
        plan {
          expiresAt
        }
      }
      pageInfo {
        hasNextPage
      }
    }
`);

/** The requests that have waited longest for each kind of decision, and how many there are, up to 100 of each. */
export const READ_NEEDS = graphql(
  `
    query Needs {
      APPROVAL: requests(first: 100, orderBy: OLDEST_FIRST, filter: { needs: APPROVAL }) {
        ...Needed
      }
      DOUBT: requests(first: 100, orderBy: OLDEST_FIRST, filter: { needs: DOUBT }) {
        ...Needed
      }
      ANSWER: requests(first: 100, orderBy: OLDEST_FIRST, filter: { needs: ANSWER }) {
        ...Needed
      }
      SIGN_IN: requests(first: 100, orderBy: OLDEST_FIRST, filter: { needs: SIGN_IN }) {
        ...Needed
      }
    }
  `,
  [NEEDED],
);

/** The requests that wait for a person, by the kind of decision. */
export type Needs = ResultOf<typeof READ_NEEDS>;

/** The call that a request waits with: what it would send, or has sent. */
export const READ_WAITING_CALL = graphql(`
    query WaitingCall($requestId: ID!) {
      request(requestId: $requestId) {
        plan {
          stepsConnection(first: 1, filter: { status: [WAITING_APPROVAL, IN_DOUBT] }) {
            nodes {
              tool
              arguments
              resolvedArguments
            }
          }
        }
      }
    }
`);

/** The changes of a list of requests. */
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

/** The newest requests whose sentence has a text. */
export const FIND_REQUESTS = graphql(`
    query FindRequests($text: String!, $first: Int!) {
      requests(first: $first, filter: { text: $text }) {
        nodes {
          requestId
          title
        }
      }
    }
`);
