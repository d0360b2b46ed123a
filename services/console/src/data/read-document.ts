import { graphql, type ResultOf } from "@planwright/client";

/** A version with its document, to be compared with another one. */
export const READ_DOCUMENT = graphql(`
    query PlanDocument($planId: ID!) {
      plan(id: $planId) {
        version
        document
        steps {
          id
          item
          dependsOn
          carriedFrom
        }
      }
    }
`);

/** A version with its document. */
export type VersionDocument = NonNullable<ResultOf<typeof READ_DOCUMENT>["plan"]>;
