import { LAST, NOW } from "./last-request.ts";

/** One tab of the page. */
export interface ExampleOperation {
  query: string;
  /** As JSON text. */
  variables?: string;
}

const LAST_ID = JSON.stringify({ requestId: LAST }, null, 2);

/** Example operations, one for each tab: from a sentence to its outputs and errors. */
export const EXAMPLES: readonly ExampleOperation[] = [
  {
    query: `# Plans a sentence and executes the plan.
# The next tabs use the request that this one creates.
# ${NOW} is replaced by the time, so that you can run it
# again: an e-mail address belongs to one author.
mutation CreatePlan($query: String!) {
  createPlan(query: $query, tags: ["graphiql"]) {
    requestId
    planId
    status
  }
}`,
    variables: JSON.stringify(
      {
        query: `Create author Alice with email alice-${NOW}@test.com, then create blog by Alice titled Hello about world`,
      },
      null,
      2,
    ),
  },
  {
    query: `# The current state: the plan, its steps,
# why they wait, and their outputs.
query Request($requestId: ID!) {
  request(requestId: $requestId) {
    status
    error { code message remedy }
    plan {
      status
      waitReason
      steps {
        key
        tool
        status
        waitReason
        arguments
        output
        error { code message remedy }
        durationMs
      }
      outputs
    }
  }
}`,
    variables: LAST_ID,
  },
  {
    query: `# The same after each change, until the end.
subscription Follow($requestId: ID!) {
  requestUpdated(requestId: $requestId) {
    status
    plan {
      status
      counts { total completed failed }
      steps { key status }
    }
  }
}`,
    variables: LAST_ID,
  },
  {
    query: `# Your own plan, checked against the tools.
# Nothing is stored; submitPlan would run it.
query Validate($plan: JSON!) {
  validatePlan(plan: $plan) {
    valid
    diagnostics { code severity stepId path message suggestion }
  }
}`,
    variables: JSON.stringify(
      {
        plan: {
          steps: [
            {
              id: "author",
              tool: "createAuthor",
              arguments: { name: "Bob", email: "bob@test.com" },
            },
            {
              id: "blog",
              tool: "createBlog",
              arguments: { title: "Hi", content: "code", authorId: "<<author._id>>" },
            },
          ],
        },
      },
      null,
      2,
    ),
  },
  {
    query: `# The newest requests that failed,
# and the tools that plans may use.
query Overview {
  requests(first: 10, filter: { status: [FAILED, PARTIAL] }) {
    nodes {
      requestId
      query
      createdAt
      plan { error { code message remedy } }
    }
  }
  getAvailableTools { name server description }
}`,
  },
  {
    query: `# Everything recorded under a request,
# without secrets, to share.
query Debug($requestId: ID!) {
  debugBundle(requestId: $requestId)
}`,
    variables: LAST_ID,
  },
];
