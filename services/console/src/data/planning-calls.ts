import { graphql, type ResultOf } from "@planwright/client";

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
