import { hasRequestEnded } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";

/** True when a request has ended, and no work of planners remains. */
export function hasEnded({
  status,
  dueAt,
  lease,
}: Pick<RequestDocument, "status" | "dueAt" | "lease">): boolean {
  return hasRequestEnded(status) && dueAt === null && lease === null;
}
