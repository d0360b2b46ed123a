import type { Outcome } from "@planwright/engine";
import type { StepDocument } from "@planwright/store";
import type { ToolCall } from "@planwright/tools";
import { LOOKUP_TOOL } from "../world/catalogue.ts";
import { EPOCH_MS } from "../world/simulated-process.ts";
import { unitNamesOf } from "../world/unit-names.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts } from "./plan-facts.ts";

/** How far an executor's estimate of the database clock may be from the world's time, in milliseconds. */
const CLOCK_MS = 1_000;

/** Tracks since when the server of a unit has been unreachable. */
export interface UnreachableCheck {
  /** A call was sent, or its server is unreachable. */
  tried(call: ToolCall, outcome: Outcome | undefined): void;
  /** A plan has ended. */
  ended(facts: PlanFacts): void;
}

/** A check of a world in which nothing was tried. @param now - simulated milliseconds */
export function createUnreachableCheck({ now, fail }: { now: () => number; fail: Fail }): UnreachableCheck {
  /** By unit, while the server was unreachable at its last call. */
  const awaySince = new Map<string, number>();

  /** Failed before its plan stops waiting for the server. */
  function isEarly({ name, plan, steps }: PlanFacts, unit: StepDocument): boolean {
    const step = steps.get(unit.stepId)?.step;
    const unitName = unit.item === null ? `${name}/${unit.stepId}` : `${name}/${unit.stepId}/${unit.item}`;
    const since = awaySince.get(unitName);
    // An operator's decision needs no wait.
    if (!step || since === undefined || !unit.finishedAt || unit.error?.code === "SETTLED_AS_FAILED")
      return false;
    const waitedMs = unit.finishedAt.getTime() - EPOCH_MS - since;
    return waitedMs + CLOCK_MS < plan.policy.unreachableMs;
  }

  return {
    tried(call, outcome) {
      // A lookup that answers shows that the server is back. If it knows of no call, the attempt is used up,
      // whatever a dead executor saw.
      if (call.tool === LOOKUP_TOOL && outcome !== undefined) return;
      const isAway = outcome?.type === "failed" && outcome.error.code === "TOOL_UNREACHABLE";
      for (const name of unitNamesOf(call)) {
        if (!isAway) awaySince.delete(name);
        else if (!awaySince.has(name)) awaySince.set(name, now());
      }
    },
    ended(facts) {
      if (facts.document.error?.code === "POISONED") return;
      const failures = [...facts.units.values()].filter(({ status }) => status === "FAILED");
      const ofItems = new Set(failures.flatMap(({ item, stepId }) => (item === null ? [] : [stepId])));
      // A list that failed by its items adds nothing to them; a list that failed in another way is another
      // failure.
      const failed = failures.filter(({ item, stepId }) => item !== null || !ofItems.has(stepId));
      const early = failed.filter((unit) => isEarly(facts, unit));
      // Another failure may have stopped the plan or the list earlier.
      if (early.length === 0 || early.length < failed.length) return;
      const keys = early.map(({ key }) => key).join(",");
      fail("unreachable-is-waited-for", `${facts.name} failed ${keys} too early`);
    },
  };
}
