import { type DocumentNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from "graphql";

/** Fields that may be large, by type. */
const HEAVY: Readonly<Record<string, ReadonlySet<string>>> = {
  Plan: new Set([
    "document",
    "planHash",
    "raw",
    "plan",
    "outputs",
    "outputReferences",
    "selectedTools",
    "executionResults",
    "validationResult",
  ]),
  Request: new Set(["diagnosis"]),
  Step: new Set(["arguments", "resolvedArguments", "output", "outputReference", "attempts"]),
  ModelCall: new Set(["messages", "answer"]),
  Execution: new Set(["results", "outputs", "errors"]),
};
/** Fields that return plans of many requests. */
const LISTS: ReadonlySet<string> = new Set(["requests", "getPlans", "getExecutions"]);

/**
 * True for a document that selects large fields of many requests. Then the budget is claimed before any read,
 * so a refusal costs nothing. Pure.
 * @param document - a valid document
 */
export function isHeavyList(schema: GraphQLSchema, document: DocumentNode): boolean {
  const typeInfo = new TypeInfo(schema);
  const query = schema.getQueryType();
  let isList = false;
  let isHeavy = false;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field({ name }) {
        const type = typeInfo.getParentType();
        if (type === query && LISTS.has(name.value)) isList = true;
        if (type && HEAVY[type.name]?.has(name.value)) isHeavy = true;
      },
    }),
  );
  return isList && isHeavy;
}
