import { countText, durationText } from "@planwright/plan";
import { Link } from "wouter";
import { type FleetFacts, READ_FLEET } from "../data/catalogue-operations.ts";
import { useRegularRead } from "../data/use-api.ts";
import { Panel } from "../parts/elements.tsx";
import type { Tone } from "../parts/looks.ts";

/** Short enough for a page in use, long enough for one that stays open. */
const READ_EVERY_MS = 10_000;

/** The problem of the fleet that blocks requests, in one line; empty without a problem. */
export function FleetLine() {
  const { data } = useRegularRead(READ_FLEET, {}, READ_EVERY_MS);
  const verdict = data && verdictOf(data.fleet);
  if (!verdict || verdict.tone === "good") return null;
  return (
    <Panel tone={verdict.tone} role="status">
      <p className="panel-line">
        <strong>{verdict.message}</strong> <Link href="/fleet">Fleet</Link>
      </p>
    </Panel>
  );
}

/** The state of the fleet, what it means for requests, and what to do. */
export interface FleetVerdict {
  tone: Tone;
  message: string;
  remedy: string | null;
}

/** Longest normal wait, in milliseconds: free workers claim within a second or two. */
const LONG_WAIT_MS = 30_000;

/** The verdict on the fleet: its worst problem. */
export function verdictOf({ workers, lostWorkers, plans, requests }: FleetFacts): FleetVerdict {
  const countTakingWork = (kind: string) =>
    workers.filter((worker) => worker.kind === kind && worker.takesWork).length;
  const executors = countTakingWork("EXECUTOR");
  const planners = countTakingWork("PLANNER");
  if (executors === 0)
    return {
      tone: "bad",
      message: "No executor takes work: no plan is executed.",
      remedy: "Start an executor, or look at the logs of the one that ended.",
    };
  if (planners === 0)
    return {
      tone: "bad",
      message: "No planner takes work: sentences stay in planning. Plans are executed.",
      remedy: "Start a planner, or look at the logs of the one that ended.",
    };
  const waits = [
    { what: "plan", of: "executors", waiting: plans },
    { what: "request", of: "planners", waiting: requests },
  ];
  for (const { what, of, waiting } of waits)
    if (waiting?.oldest && waiting.oldest.ageMs > LONG_WAIT_MS)
      return {
        tone: "attention",
        message: `The oldest ${what} has waited for ${durationText(waiting.oldest.ageMs)}: the ${of} are full.`,
        remedy: `Start more ${of}, or check whether one of them holds work that makes no progress.`,
      };
  if (lostWorkers.length > 0)
    return {
      tone: "attention",
      message: `${countText(lostWorkers.length, "worker")} ${lostWorkers.length === 1 ? "was" : "were"} lost within the last hour. ${countText(executors, "executor")} and ${countText(planners, "planner")} continue the work.`,
      remedy: "Look at the logs from the time of the last heartbeat: memory, a kill, a lost connection.",
    };
  return {
    tone: "good",
    message: `${countText(executors, "executor")} and ${countText(planners, "planner")} take work.`,
    remedy: null,
  };
}
