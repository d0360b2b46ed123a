import { isJsonObject, type JsonObject, type JsonValue, type PlanningContext } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";
import { contextOf, type RequestDocument } from "@planwright/store";

/**
 * The planning context that a model may see. Facts that look like credentials are left out, because nothing
 * could be restored in their place. Pure.
 */
export function shownContextOf(request: Pick<RequestDocument, "context" | "createdAt">): PlanningContext {
  const context = contextOf(request);
  const shown = redactJson(context.facts, { maxDepth: 100 });
  return { ...context, facts: fieldsAsTheyWere(context.facts, isJsonObject(shown) ? shown : {}) };
}

function asItWas(value: JsonValue, shown: JsonValue): JsonValue | undefined {
  if (Array.isArray(value) && Array.isArray(shown))
    return value.flatMap((each, index) => {
      const kept = asItWas(each, shown[index] ?? null);
      return kept === undefined ? [] : [kept];
    });
  if (isJsonObject(value) && isJsonObject(shown)) return fieldsAsTheyWere(value, shown);
  return value === shown ? value : undefined;
}

function fieldsAsTheyWere(fields: JsonObject, shown: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const kept = asItWas(value, shown[name] ?? null);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}
