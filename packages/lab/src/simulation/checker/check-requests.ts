import { canMove, REQUEST_LIFECYCLE } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";
import type { Fail } from "./invariants.ts";

/** Checks a request document that was just written. */
export function checkRequestWrite(
  { before, after }: { before: RequestDocument | null; after: RequestDocument },
  fail: Fail,
): void {
  if (!before || before.status === after.status) return;
  if (canMove(REQUEST_LIFECYCLE, before.status, after.status)) return;
  fail("status-arrows", `${after._id} went from ${before.status} to ${after.status}`);
}
