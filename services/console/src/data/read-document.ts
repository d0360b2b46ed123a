import { graphql, type ResultOf } from "@planwright/client";

/** Reads a version with its document, to compare it with another one. */
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
