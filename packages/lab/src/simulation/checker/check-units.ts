import { canMove, STEP_LIFECYCLE, type StepStatus } from "@planwright/plan";
import type { StepDocument, UnitChange } from "@planwright/store";
import type { Actor } from "../world/actor.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts } from "./plan-facts.ts";

/** Checks the change of a unit by an entry. */
export function checkUnitWrite(
  facts: PlanFacts,
  { before, after, epoch, actor }: UnitChange & { actor: Actor | null },
  fail: Fail,
): void {
  if (epoch !== undefined && epoch < facts.fencedBy) {
    const who = `${actor?.process.name} wrote ${after._id} (${before?.status ?? "nothing"} -> ${after.status})`;
    fail("one-writer", `${who} under epoch ${epoch}, which epoch ${facts.fencedBy} had fenced off`);
  }
  if (!before) return;
  if (before.finishedAt !== null && (before.status !== after.status || before.output !== after.output)) {
    fail("completed-is-final", `${after._id} was ${before.status} and became ${after.status}`);
  }
  if (!isReachable(before, after)) {
    fail("status-arrows", `${after._id} went from ${before.status} to ${after.status}`);
  }
}

/** One write may contain the start and the end of an attempt: the unit then passed through RUNNING. */
function isReachable(before: StepDocument, after: StepDocument): boolean {
  if (before.status === after.status || mayMove(before.status, after.status)) return true;
  const hasBegun = after.attempts.length > before.attempts.length;
  return hasBegun && mayMove(before.status, "RUNNING") && mayMove("RUNNING", after.status);
}

function mayMove(from: StepStatus, to: StepStatus): boolean {
  return canMove(STEP_LIFECYCLE, from, to);
}
