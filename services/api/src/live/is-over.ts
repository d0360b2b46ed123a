import type { RequestStatus } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

const LAST_STATES: ReadonlySet<RequestStatus> = new Set(["COMPLETED", "PARTIAL", "FAILED", "CANCELLED"]);

/** True when nothing more happens to a request by itself: it is over, and no planner has anything left to do for it. */
export function isOver({ status, planning }: Pick<RequestDocument, "status" | "planning">): boolean {
  return LAST_STATES.has(status) && planning.dueAt === null;
}
