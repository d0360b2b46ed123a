import { needsPerson, planNeed, REQUEST_LIFECYCLE } from "@planwright/plan";
import { hasEnded } from "./has-ended.ts";
import type { RequestSnapshot } from "./request-feed.ts";

/** True when a request has ended, or waits for a client or operator. */
export function isAtRest({ request, plan }: Pick<RequestSnapshot, "request" | "plan">): boolean {
  if (hasEnded(request) || needsPerson(REQUEST_LIFECYCLE[request.status].needs)) return true;
  const need = plan === null ? "nothing" : planNeed(plan);
  // A READY plan whose request is not READY is being queued.
  return need !== "start" && needsPerson(need);
}
