import { graphql, type ResultOf } from "@planwright/client";

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

const NEEDED_REQUESTS = graphql(`
    fragment NeededRequests on RequestConnection {
      nodes {
        requestId
        title
        plan {
          expiresAt
        }
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

/** The requests that have waited longest for each kind of decision; the rest is one click away. */
export const READ_NEEDS = graphql(
  `
    query Needs {
      APPROVAL: requests(first: 5, orderBy: OLDEST_FIRST, filter: { needs: APPROVAL }) {
        ...NeededRequests
      }
      DOUBT: requests(first: 5, orderBy: OLDEST_FIRST, filter: { needs: DOUBT }) {
        ...NeededRequests
      }
      ANSWER: requests(first: 5, orderBy: OLDEST_FIRST, filter: { needs: ANSWER }) {
        ...NeededRequests
      }
    }
  `,
  [NEEDED_REQUESTS],
);

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
