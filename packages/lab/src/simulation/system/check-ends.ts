import { isTerminalPlanStatus } from "@planwright/plan";
import type { PlanFacts } from "../checker/plan-facts.ts";
import { TAKE_OVER_MS } from "../world/faults.ts";
import { EPOCH_MS } from "../world/simulated-process.ts";
import type { World } from "./world.ts";

const AFTER_DEADLINE_MS = 30_000;
const CHECK_EVERY_MS = 1_000;
/** A doubt and a pause have no limit, but each person of this world acts within this time. */
const PEOPLE_ACT_WITHIN_MS = 600_000;
/** Without faults, a plan that no executor has claimed yet is claimed within this time. */
const CLAIMED_WITHIN_MS = 10_000;

/**
 * Checks every second for plans that should have ended. The returned function says whether everything had
 * ended at the last check.
 * @param isChanging - true while a client is going to make another version
 */
export function checkEnds(world: World, isChanging: () => boolean): () => boolean {
  const { timeline, checker } = world;
  let hasAllEnded = false;
  const check = (): void => {
    for (const facts of checker.plans()) {
      const lateBy = timeline.now() - latestEnd(world, facts);
      if (lateBy > 0 && !hasEnded(world, facts)) {
        const { status, waitReason } = facts.document;
        const requestStatus = requestOf(world, facts)?.["status"];
        checker.fail(
          "ends-in-time",
          `${facts.name} is ${status} (${waitReason ?? "no wait reason"}), its request ${String(requestStatus)}, ${lateBy} ms late`,
        );
      }
    }
    hasAllEnded = !isChanging() && hasEverythingEnded(world);
    timeline.at(timeline.now() + CHECK_EVERY_MS, check);
  };
  timeline.at(CHECK_EVERY_MS, check);
  return () => hasAllEnded;
}

/** True when clients and faults have ended, and so has every plan that was executed. */
function hasEverythingEnded(world: World): boolean {
  const { checker, settings, timeline } = world;
  const names = new Set<string>();
  for (const facts of checker.plans()) {
    if (!hasEnded(world, facts)) return false;
    names.add(facts.name);
  }
  // A submission without an answer may have stored nothing.
  return (
    names.size === settings.plans || timeline.now() > Math.max(settings.chaosMs, 10_000) + CLAIMED_WITHIN_MS
  );
}

/** True when the plan has ended and its request shows it. A plan that no client executes stays READY. */
function hasEnded(world: World, facts: PlanFacts): boolean {
  const { _id, status, deadlineAt, controls } = facts.document;
  if (world.checker.isGone(facts)) return world.database.find("plans", { _id }).length === 0;
  // The deadline is set at the first claim, so a plan that was paused before waits until it is resumed.
  if (status === "PAUSED" && !deadlineAt) return true;
  if (status === "READY") return world.timeline.now() > world.settings.chaosMs + CLAIMED_WITHIN_MS;
  if ((controls?.length ?? 0) > 0) return false;
  const request = requestOf(world, facts);
  const isReplaced = request?.["planId"] !== facts.document._id;
  return isTerminalPlanStatus(status) && (isReplaced || request?.["status"] !== "EXECUTING");
}

function requestOf({ database }: World, facts: PlanFacts) {
  return database.find("requests", { _id: facts.document.requestId })[0];
}

/** The simulated time by which a plan must end, in milliseconds. Time that faults cost is added. */
function latestEnd({ settings, faults }: World, { document, peopleSince, peopleMs }: PlanFacts): number {
  const { startedAt, dueAt, queuedAt, createdAt } = document;
  if (peopleSince !== null)
    return (dueAt ? dueAt.getTime() - EPOCH_MS : peopleSince + PEOPLE_ACT_WITHIN_MS) + AFTER_DEADLINE_MS;
  const begunAt = (queuedAt ?? createdAt).getTime() - EPOCH_MS;
  const deadline = startedAt
    ? startedAt.getTime() - EPOCH_MS + settings.planTimeoutMs + peopleMs
    : Math.max(begunAt, faults.calmSince()) + CLAIMED_WITHIN_MS + settings.planTimeoutMs;
  return Math.max(deadline, faults.calmSince() + TAKE_OVER_MS) + AFTER_DEADLINE_MS;
}
