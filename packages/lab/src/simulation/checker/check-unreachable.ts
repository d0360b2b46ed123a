import type { Outcome } from "@planwright/engine";
import type { StepDocument } from "@planwright/store";
import type { ToolCall } from "@planwright/tools";
import { LOOKUP_TOOL } from "../world/catalogue.ts";
import { EPOCH_MS } from "../world/simulated-process.ts";
import { unitNamesOf } from "../world/unit-names.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts } from "./plan-facts.ts";

/**
 * How far an executor's estimate of the database clock may differ from the simulated time, in milliseconds.
 */
const CLOCK_MS = 1_000;

/** Tracks how long the server of each unit has been unreachable. */
export interface UnreachableCheck {
  /** A call was sent or did not reach its server. */
  tried(call: ToolCall, outcome: Outcome | undefined): void;
  /** A plan has ended. */
  ended(facts: PlanFacts): void;
}

/** Creates the check of a new world. @param now - simulated milliseconds */
export function createUnreachableCheck({ now, fail }: { now: () => number; fail: Fail }): UnreachableCheck {
  /** For units whose last call did not reach the server: since when. */
  const unreachableSince = new Map<string, number>();

  /** True when the unit failed before the time that its plan waits for a server. */
  function isEarly({ name, plan, steps }: PlanFacts, unit: StepDocument): boolean {
    const step = steps.get(unit.stepId)?.step;
    const unitName = unit.item === null ? `${name}/${unit.stepId}` : `${name}/${unit.stepId}/${unit.item}`;
    const since = unreachableSince.get(unitName);
    // An operator can decide at any time.
    if (!step || since === undefined || !unit.finishedAt || unit.error?.code === "SETTLED_AS_FAILED")
      return false;
    const waitedMs = unit.finishedAt.getTime() - EPOCH_MS - since;
    return waitedMs + CLOCK_MS < plan.policy.unreachableMs;
  }

  return {
    tried(call, outcome) {
      // A lookup that answers shows that the server is reachable again. If it finds no call, the attempt
      // counts, whatever the dead executor knew.
      if (call.tool === LOOKUP_TOOL && outcome !== undefined) return;
      const isUnreachable = outcome?.type === "failed" && outcome.error.code === "TOOL_UNREACHABLE";
      for (const name of unitNamesOf(call)) {
        if (!isUnreachable) unreachableSince.delete(name);
        else if (!unreachableSince.has(name)) unreachableSince.set(name, now());
      }
    },
    ended(facts) {
      if (facts.document.error?.code === "POISONED") return;
      const failures = [...facts.units.values()].filter(({ status }) => status === "FAILED");
      const ofItems = new Set(failures.flatMap(({ item, stepId }) => (item === null ? [] : [stepId])));
      // The failure of a list is not counted when its items failed; otherwise it is a separate failure.
      const failed = failures.filter(({ item, stepId }) => item !== null || !ofItems.has(stepId));
      const early = failed.filter((unit) => isEarly(facts, unit));
      // Another failure may have stopped the plan or the list earlier.
      if (early.length === 0 || early.length < failed.length) return;
      const keys = early.map(({ key }) => key).join(",");
      fail("unreachable-is-waited-for", `${facts.name} failed ${keys} too early`);
    },
  };
}
