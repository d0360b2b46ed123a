import { STEP_TRANSITIONS, type StepStatus } from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import type { Actor } from "../actor.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts } from "./plan-facts.ts";

/** Checks a unit's document that was just written. */
export function checkUnitWrite(
  facts: PlanFacts,
  { before, after, actor }: { before: StepDocument | null; after: StepDocument; actor: Actor | null },
  fail: Fail,
): void {
  const meant: unknown = actor?.write?.condition["epoch"];
  if (!before) {
    // The late insert of an item has no document that could refuse it. It is PENDING, and a successor that needs it takes it over.
    if (after.epoch < facts.fencedBy) facts.strays.add(after.key);
    return;
  }
  if (isStale(meant, before, facts)) {
    const who = `${actor?.process.name} wrote ${after._id} (${before.status} -> ${after.status})`;
    fail(
      "one-writer",
      `${who} under epoch ${JSON.stringify(meant)}, which epoch ${facts.fencedBy} had fenced off`,
    );
  }
  if (before.finishedAt !== null && (before.status !== after.status || before.output !== after.output)) {
    fail("completed-is-final", `${after._id} was ${before.status} and became ${after.status}`);
  }
  if (!isReachable(before, after)) {
    fail("status-arrows", `${after._id} went from ${before.status} to ${after.status}`);
  }
}

/** An insert takes over what an earlier owner left, and so names the newest epoch that it may write over. */
function isStale(meant: unknown, before: StepDocument, facts: PlanFacts): boolean {
  if (typeof meant === "number") return meant < facts.fencedBy;
  if (typeof meant !== "object" || meant === null || !("$lte" in meant)) return false;
  return before.epoch > Number(meant.$lte);
}

/** One write may hold the beginning and the end of an attempt: it then passed through RUNNING. */
function isReachable(before: StepDocument, after: StepDocument): boolean {
  if (before.status === after.status || mayMove(before.status, after.status)) return true;
  const hasBegun = after.attempts.length > before.attempts.length;
  return hasBegun && mayMove(before.status, "RUNNING") && mayMove("RUNNING", after.status);
}

function mayMove(from: StepStatus, to: StepStatus): boolean {
  return STEP_TRANSITIONS[from].includes(to);
}
