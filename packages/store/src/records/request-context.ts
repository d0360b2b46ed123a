import type { PlanningContext } from "@planwright/plan";
import type { RequestDocument } from "./request-document.ts";

/**
 * Now and here for everything that is done for a request: as its caller gave it, else the moment when it was
 * accepted, in UTC.
 */
export function contextOf({
  context = {},
  createdAt,
}: Pick<RequestDocument, "context" | "createdAt">): PlanningContext {
  const { now = createdAt, timezone = "UTC", locale = null, facts = {} } = context;
  return { now, timezone, locale, facts };
}
