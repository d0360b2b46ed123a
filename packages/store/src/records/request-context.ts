import type { PlanningContext } from "@planwright/plan";
import type { RequestDocument } from "./request-document.ts";

/**
 * Time and place for all work of a request: from its caller, otherwise the time when it was accepted, in UTC.
 */
export function contextOf({
  context = {},
  createdAt,
}: Pick<RequestDocument, "context" | "createdAt">): PlanningContext {
  const { now = createdAt, timezone = "UTC", locale = null, facts = {} } = context;
  return { now, timezone, locale, facts };
}
