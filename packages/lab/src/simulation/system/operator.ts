import type { Resolution, StepRun } from "@planwright/engine";
import { isTerminalPlanStatus } from "@planwright/plan";
import type { UnitChange } from "@planwright/store";
import type { Random } from "../../random/random.ts";
import { nameOfUnit, unitsOfStep } from "../checker/plan-facts.ts";
import { TENANT } from "../world/tenant.ts";
import type { Api } from "./api.ts";
import type { World } from "./world.ts";

/** A decision that would come later than this comes only after a night. */
const LATE_MS = 8_000;
/** Longer than any plan's own time, and than the limit of some approvals. */
export const NIGHT_MS = 240_000;

/**
 * An operator who decides about most approvals, and about each doubt, which has no limit, after some time. The
 * returned function receives the changes of units.
 */
export function startOperator(world: World, api: Api): (change: UnitChange) => void {
  const { timeline, checker, log } = world;
  const random = world.random.stream("operator");

  function later(decision: () => Promise<unknown>, isExpiring = true): void {
    const soonMs = random.whole(50, random.chance(0.2) ? 10_000 : 1_500);
    const isSeen = random.chance(0.85);
    if (!isSeen && isExpiring) return;
    const delayMs = isSeen && soonMs <= LATE_MS ? soonMs : NIGHT_MS;
    timeline.at(timeline.now() + delayMs, () => void decision().catch(() => later(decision, isExpiring)));
  }

  function unitsOf(planId: string, stepId: string): string[] {
    const facts = checker.facts(planId);
    const step = facts?.steps.get(stepId);
    return step ? unitsOfStep(step.step) : [];
  }

  function approve(unit: StepRun): void {
    const { planId, stepId, approvalHash } = unit;
    const approved = random.chance(0.9);
    later(async () => {
      if (!approvalHash) return;
      for (const one of unitsOf(planId, stepId)) checker.effects.repeatAccepted(one);
      const decision = { stepId, approved, approvalHash, reason: null, by: "operator" };
      const { type } = await api.ask((store) => store.approveStep(TENANT, planId, decision));
      log.note("operator says", approved ? "yes" : "no", "to", `${unit.planId}/${unit.key}`, type);
    });
  }

  function resolve(unit: StepRun): void {
    const { planId, key } = unit;
    const attempt = unit.attempts.length;
    const resolution = drawResolution(random);
    later(async () => {
      // Counted before the API receives it, because a decision without an answer may have arrived.
      const facts = checker.facts(planId);
      const name = facts ? nameOfUnit(facts, unit) : "";
      // An operator who is wrong lets a later version call again.
      if (resolution.type === "failed") checker.effects.repeatAccepted(name);
      if (resolution.type === "retry") checker.effects.allowedAgain(name);
      // For a call with a key, "retry" does not decide about the earlier call, unless the plan has ended.
      const hasEnded = facts !== undefined && isTerminalPlanStatus(facts.document.status);
      if (resolution.type !== "retry" || unit.effectClass !== "K" || hasEnded)
        checker.records.resolvedByOperator(name);
      const { type } = await api.ask((store) =>
        store.resolveUnit(TENANT, planId, { key, attempt, resolution, by: "operator" }),
      );
      log.note(
        "operator says",
        resolution.type,
        "of",
        `${unit.planId}/${unit.key}`,
        "attempt",
        attempt,
        type,
      );
    }, false);
  }

  return ({ before, after }) => {
    if (before?.status === after.status) return;
    if (after.status === "WAITING_APPROVAL") approve(after);
    if (after.status === "IN_DOUBT") resolve(after);
  };
}

function drawResolution(random: Random): Resolution {
  const drawn = random.next();
  if (drawn < 0.4) return { type: "retry" };
  if (drawn < 0.8) return { type: "completed", output: { value: 0, list: [] } };
  const error = { code: "SETTLED_AS_FAILED", message: "an operator says so", retryable: false };
  return { type: "failed", error };
}
