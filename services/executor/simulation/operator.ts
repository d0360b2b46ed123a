import type { Resolution } from "@planwright/engine";
import type { StepDocument } from "@planwright/store";
import type { Api } from "./api.ts";
import type { Random } from "./random.ts";
import { TENANT } from "./tenant.ts";
import type { World } from "./world.ts";

/** Starts an operator, who sees most of what waits for people, sooner or later. */
export function startOperator(world: World, api: Api): void {
  const { timeline, checker, database, log } = world;
  const random = world.random.stream("operator");

  function later(what: () => Promise<unknown>): void {
    const delayMs = random.whole(50, random.chance(0.2) ? 10_000 : 1_500);
    const isSeen = random.chance(0.85);
    if (isSeen) timeline.at(timeline.now() + delayMs, () => void what().catch(() => later(what)));
  }

  function approve(unit: StepDocument): void {
    const { planId, stepId, approvalHash } = unit;
    const approved = random.chance(0.9);
    later(async () => {
      if (!approvalHash) return;
      const word = { stepId, approved, approvalHash, reason: null, by: "operator" };
      const { type } = await api.ask((store) => store.approveStep(TENANT, planId, word));
      log.note("operator says", approved ? "yes" : "no", "to", unit._id, type);
    });
  }

  function resolve(unit: StepDocument): void {
    const { planId, key } = unit;
    const attempt = unit.attempts.length;
    const resolution = drawResolution(random);
    later(async () => {
      // Counted before it is heard: nobody knows whether a word that was lost came through.
      if (resolution.type === "retry")
        checker.effects.allowedAgain(unitName(checker.facts(planId)?.name ?? "", key));
      const { type } = await api.ask((store) =>
        store.resolveUnit(TENANT, planId, { key, attempt, resolution, by: "operator" }),
      );
      log.note("operator says", resolution.type, "of", unit._id, "attempt", attempt, type);
    });
  }

  database.onChange((change) => {
    if (change.collection !== "steps" || change.before?.status === change.after.status) return;
    if (change.after.status === "WAITING_APPROVAL") approve(change.after);
    if (change.after.status === "IN_DOUBT") resolve(change.after);
  });
}

/** The name of a unit as its calls carry it. */
function unitName(plan: string, key: string): string {
  return `${plan}/${key.replace("[", "/").replace("]", "")}`;
}

function drawResolution(random: Random): Resolution {
  const drawn = random.next();
  if (drawn < 0.4) return { type: "retry" };
  if (drawn < 0.8) return { type: "completed", output: { value: 0, list: [] } };
  return { type: "failed", error: { code: "TOOL_FAILED", message: "an operator says so", retryable: false } };
}
