import { isRequestOver } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/** True when nothing more happens to a request by itself: it is over, and no planner has anything left to do for it. */
export function isOver({ status, planning }: Pick<RequestDocument, "status" | "planning">): boolean {
  return isRequestOver(status) && planning.dueAt === null && planning.lease === null;
}
