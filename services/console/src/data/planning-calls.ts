import { graphql, type ResultOf } from "@planwright/client";

/** The calls of models for a request, without what was asked and answered. */
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

/** A call of a model, as far as the timeline shows it. */
export type PlanningCall = NonNullable<
  ResultOf<typeof READ_PLANNING_CALLS>["request"]
>["modelCallsConnection"]["nodes"][number];
