import { hasRequestEnded } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/** True when a request has ended, and no planner has work left for it. */
export function hasEnded({ status, planning }: Pick<RequestDocument, "status" | "planning">): boolean {
  return hasRequestEnded(status) && planning.dueAt === null && planning.lease === null;
}
