import { isJsonObject, type JsonObject, type JsonValue, type PlanningContext } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";
import { contextOf, type RequestDocument } from "@planwright/store";

/**
 * The planning context that a model may see. Facts that look like credentials are left out, because their
 * values could not be restored later. Pure.
 */
export function shownContextOf(request: Pick<RequestDocument, "context" | "createdAt">): PlanningContext {
  const context = contextOf(request);
  const shown = redactJson(context.facts, { maxDepth: 100 });
  return { ...context, facts: unchangedFields(context.facts, isJsonObject(shown) ? shown : {}) };
}

function unchangedValue(value: JsonValue, shown: JsonValue): JsonValue | undefined {
  if (Array.isArray(value) && Array.isArray(shown))
    return value.flatMap((each, index) => {
      const kept = unchangedValue(each, shown[index] ?? null);
      return kept === undefined ? [] : [kept];
    });
  if (isJsonObject(value) && isJsonObject(shown)) return unchangedFields(value, shown);
  return value === shown ? value : undefined;
}

function unchangedFields(fields: JsonObject, shown: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const kept = unchangedValue(value, shown[name] ?? null);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}
