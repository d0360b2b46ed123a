/**
 * How far a run is. It goes forward alone:
 *
 * working -> handing over: nothing new starts, calls under way end, and the plan is given back to any executor.
 * working | handing over -> leaving: the plan is being given back. As soon as MongoDB has it another executor may hold it, which hears what comes from
 * now on: nothing is begun any more.
 * any -> over: the plan has ended, was given back, or was lost. Nothing is written and nothing is called any more.
 */
export type RunPhase = "working" | "handing over" | "leaving" | "over";

/** The phases in their order. */
const ORDER: readonly RunPhase[] = ["working", "handing over", "leaving", "over"];

/** The phase of one run. */
export interface RunPhases {
  now(): RunPhase;
  /** True while the run has not come so far. */
  isBefore(phase: RunPhase): boolean;
  /** Goes on to a phase; false, and nothing changes, for a run that is there or further. */
  enter(phase: RunPhase): boolean;
}

/** A run that has just begun to work. */
export function createRunPhases(): RunPhases {
  let at = 0;
  return {
    now: () => ORDER[at] ?? "over",
    isBefore: (phase) => at < ORDER.indexOf(phase),
    enter(phase) {
      const next = ORDER.indexOf(phase);
      if (next <= at) return false;
      at = next;
      return true;
    },
  };
}
