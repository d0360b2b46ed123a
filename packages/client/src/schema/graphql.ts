import type { JsonValue } from "@planwright/plan";
import { initGraphQLTada, type TadaDocumentNode } from "gql.tada";
import type { Introspection } from "./introspection.ts";

/**
 * Reads a GraphQL document and gives it the types of its variables and its result, both from the API's
 * schema. A second argument lists the fragments that the document spreads.
 *
 * Statuses are text in results: a newer API may have statuses that this package does not know.
 */
export const graphql = initGraphQLTada<{
  introspection: Introspection;
  disableMasking: true;
  scalars: {
    DateTime: string;
    JSON: JsonValue;
    RequestStatus: string;
    PlanStatus: string;
    StepStatus: string;
    DiagnosticSeverity: string;
    DiagnosisCode: string;
    DiagnosisSeverity: string;
    ToolServerState: string;
  };
}>();

/** A GraphQL operation with the types of its result and its variables. */
export type Operation<Result, Variables> = TadaDocumentNode<Result, Variables, unknown>;

/** The variables of an operation. Optional ones may also be `undefined`, and are then not sent. */
export type Given<Variables> = {
  [Name in keyof Variables]: object extends Pick<Variables, Name>
    ? Variables[Name] | undefined
    : Variables[Name];
};
