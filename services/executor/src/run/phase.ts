/**
 * The phase of a run. It only moves forward:
 *
 * - working -> handing over: nothing new starts, running calls end, and the plan is released for any
 *   executor.
 * - working, handing over -> leaving: the plan is being released. As soon as MongoDB has the release, another
 *   executor may claim the plan and gets all later events, so nothing starts here.
 * - any -> ended: the plan has ended, was released, or was lost. Nothing is written and nothing is called.
 */
export type RunPhase = "working" | "handing over" | "leaving" | "ended";

/** The phases in their order. */
const ORDER: readonly RunPhase[] = ["working", "handing over", "leaving", "ended"];

/** The phase of one run. */
export interface RunPhases {
  now(): RunPhase;
  /** True while the run has not reached this phase. */
  isBefore(phase: RunPhase): boolean;
  /** Moves to a phase; false, without any change, when the run is in this phase or a later one. */
  enter(phase: RunPhase): boolean;
}

/** The phases of a run that starts to work. */
export function createRunPhases(): RunPhases {
  let at = 0;
  return {
    now: () => ORDER[at] ?? "ended",
    isBefore: (phase) => at < ORDER.indexOf(phase),
    enter(phase) {
      const next = ORDER.indexOf(phase);
      if (next <= at) return false;
      at = next;
      return true;
    },
  };
}
