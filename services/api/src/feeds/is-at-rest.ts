import { needsPerson, planNeed, REQUEST_LIFECYCLE } from "@planwright/plan";
import { isOver } from "./is-over.ts";
import type { RequestSnapshot } from "./request-feed.ts";

/** True when nothing more happens to a request by itself: it has ended, or a client or operator has to act. */
export function isAtRest({ request, plan }: Pick<RequestSnapshot, "request" | "plan">): boolean {
  if (isOver(request) || needsPerson(REQUEST_LIFECYCLE[request.status].needs)) return true;
  const need = plan === null ? "nothing" : planNeed(plan);
  // A READY plan whose request is not READY is being queued.
  return need !== "start" && needsPerson(need);
}
