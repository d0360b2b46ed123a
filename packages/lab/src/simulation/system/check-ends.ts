import { isTerminalPlanStatus } from "@planwright/plan";
import type { PlanFacts } from "../checker/plan-facts.ts";
import { TAKE_OVER_MS } from "../world/faults.ts";
import { EPOCH_MS } from "../world/simulated-process.ts";
import type { World } from "./world.ts";

const AFTER_DEADLINE_MS = 30_000;
const LOOK_EVERY_MS = 1_000;
/** Longest until a plan that no executor has claimed yet is claimed, in calm. */
const CLAIMED_WITHIN_MS = 10_000;

/** Looks every second for plans that should be over by now. The result tells whether everything was, at the last look. */
export function checkEnds(world: World): () => boolean {
  const { timeline, checker } = world;
  let isAllOver = false;
  const look = (): void => {
    for (const facts of checker.plans()) {
      const lateBy = timeline.now() - latestEnd(world, facts);
      if (lateBy > 0 && !isOver(world, facts)) {
        const { status, waitReason } = facts.document;
        const requestStatus = requestOf(world, facts);
        checker.fail(
          "ends-in-time",
          `${facts.name} is ${status} (${waitReason ?? "waits for nothing"}), its request ${String(requestStatus)}, ${lateBy} ms late`,
        );
      }
    }
    isAllOver = everythingIsOver(world);
    timeline.at(timeline.now() + LOOK_EVERY_MS, look);
  };
  timeline.at(LOOK_EVERY_MS, look);
  return () => isAllOver;
}

/** True when clients and faults are done, and every plan that was to run is over. */
function everythingIsOver(world: World): boolean {
  const { checker, settings, timeline } = world;
  let count = 0;
  for (const facts of checker.plans()) {
    if (!isOver(world, facts)) return false;
    count += 1;
  }
  // A submission whose answer never came may have stored nothing.
  return count === settings.plans || timeline.now() > Math.max(settings.chaosMs, 10_000) + CLAIMED_WITHIN_MS;
}

/** Its end is told on the request as well; a plan that no client wants run stays as it is. */
function isOver(world: World, facts: PlanFacts): boolean {
  const { status, deadlineAt } = facts.document;
  // Its deadline begins with its first claim: one that is held up before that waits for the operator who held it up.
  if (status === "PAUSED" && !deadlineAt) return true;
  if (status === "READY") return world.timeline.now() > world.settings.chaosMs + CLAIMED_WITHIN_MS;
  return isTerminalPlanStatus(status) && requestOf(world, facts) !== "EXECUTING";
}

function requestOf({ database }: World, facts: PlanFacts): unknown {
  return database.find("requests", { _id: facts.document.requestId })[0]?.["status"];
}

/** Simulated milliseconds by which a plan has to be over: time lost to faults does not count. */
function latestEnd({ settings, faults }: World, { document }: PlanFacts): number {
  const { deadlineAt, queuedAt, createdAt } = document;
  const begunAt = (queuedAt ?? createdAt).getTime() - EPOCH_MS;
  const deadline = deadlineAt
    ? deadlineAt.getTime() - EPOCH_MS
    : Math.max(begunAt, faults.calmSince()) + CLAIMED_WITHIN_MS + settings.planTimeoutMs;
  return Math.max(deadline, faults.calmSince() + TAKE_OVER_MS) + AFTER_DEADLINE_MS;
}
