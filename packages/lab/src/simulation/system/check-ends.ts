import { isTerminalPlanStatus } from "@planwright/plan";
import type { PlanFacts } from "../checker/plan-facts.ts";
import { TAKE_OVER_MS } from "../world/faults.ts";
import { EPOCH_MS } from "../world/simulated-process.ts";
import type { World } from "./world.ts";

const AFTER_DEADLINE_MS = 30_000;
const LOOK_EVERY_MS = 1_000;
/** In calm, a plan that no executor has claimed yet is claimed within this time. */
const CLAIMED_WITHIN_MS = 10_000;

/**
 * Looks every second for plans that should have ended by now. The returned function says whether everything
 * had ended at the last look.
 */
export function checkEnds(world: World): () => boolean {
  const { timeline, checker } = world;
  let isAllOver = false;
  const look = (): void => {
    for (const facts of checker.plans()) {
      const lateBy = timeline.now() - latestEnd(world, facts);
      if (lateBy > 0 && !hasEnded(world, facts)) {
        const { status, waitReason } = facts.document;
        const requestStatus = requestOf(world, facts);
        checker.fail(
          "ends-in-time",
          `${facts.name} is ${status} (${waitReason ?? "no wait reason"}), its request ${String(requestStatus)}, ${lateBy} ms late`,
        );
      }
    }
    isAllOver = everythingIsOver(world);
    timeline.at(timeline.now() + LOOK_EVERY_MS, look);
  };
  timeline.at(LOOK_EVERY_MS, look);
  return () => isAllOver;
}

/** True when clients and faults are done and every plan that was to run has ended. */
function everythingIsOver(world: World): boolean {
  const { checker, settings, timeline } = world;
  let count = 0;
  for (const facts of checker.plans()) {
    if (!hasEnded(world, facts)) return false;
    count += 1;
  }
  // A submission without an answer may have stored nothing.
  return count === settings.plans || timeline.now() > Math.max(settings.chaosMs, 10_000) + CLAIMED_WITHIN_MS;
}

/** True when the plan has ended and its request shows it; a plan that no client executes stays READY. */
function hasEnded(world: World, facts: PlanFacts): boolean {
  const { status, deadlineAt } = facts.document;
  // The deadline begins with the first claim: a plan paused before that waits until it is resumed.
  if (status === "PAUSED" && !deadlineAt) return true;
  if (status === "READY") return world.timeline.now() > world.settings.chaosMs + CLAIMED_WITHIN_MS;
  return isTerminalPlanStatus(status) && requestOf(world, facts) !== "EXECUTING";
}

function requestOf({ database }: World, facts: PlanFacts): unknown {
  return database.find("requests", { _id: facts.document.requestId })[0]?.["status"];
}

/** The simulated time by which a plan has to end, in milliseconds: time lost to faults does not count. */
function latestEnd({ settings, faults }: World, { document }: PlanFacts): number {
  const { deadlineAt, queuedAt, createdAt } = document;
  const begunAt = (queuedAt ?? createdAt).getTime() - EPOCH_MS;
  const deadline = deadlineAt
    ? deadlineAt.getTime() - EPOCH_MS
    : Math.max(begunAt, faults.calmSince()) + CLAIMED_WITHIN_MS + settings.planTimeoutMs;
  return Math.max(deadline, faults.calmSince() + TAKE_OVER_MS) + AFTER_DEADLINE_MS;
}
