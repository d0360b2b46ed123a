/**
 * The documents of items. One that is not there yet carries no epoch that could refuse a stale owner, so the plan itself is
 * asked, in two single writes. A transaction over both would lock the plan: when its process dies, for up to a minute.
 *
 * 1. The owner first notes on the plan, under its epoch, how many items a step has, and then inserts them.
 * 2. A claim inserts what is noted and missing before it fences the units off. What a stale owner still inserts is there
 *    already by then, and refused.
 */
import { itemKey } from "@planwright/engine";
import type { PlanDocument, StepDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import { newStep } from "../new-documents.ts";
import type { PlanClaim } from "../store.ts";
import { isDuplicateKey } from "../transient-errors.ts";
import type { ExecutionContext } from "./context.ts";

/**
 * Inserts the documents of items as the owner of their plan.
 * @throws {LeaseLostError}
 */
export async function insertUnits(
  { collections, group }: ExecutionContext,
  claim: PlanClaim,
  documents: readonly StepDocument[],
): Promise<void> {
  const { plan, epoch } = claim;
  const lost = new LeaseLostError({ id: plan._id, epoch });
  const noted = { $concatArrays: [{ $ifNull: ["$expanded", []] }, { $literal: sizesOf(documents) }] };
  const isHeld = await group.update({
    collection: "plans",
    id: plan._id,
    condition: { "lease.epoch": epoch },
    expressions: { expanded: noted },
  });
  if (!isHeld) throw lost;
  try {
    await collections.steps.insertMany([...documents], { ordered: false });
  } catch (error) {
    // Somebody else has claimed the plan since, and inserted them.
    throw isDuplicateKey(error) ? lost : error;
  }
  for (const document of documents) claim.steps.set(document.key, document);
}

/** Inserts the items that are noted on a plan that was just claimed and that its earlier owners did not get to insert. */
export async function insertMissingUnits(
  { collections }: ExecutionContext,
  plan: PlanDocument,
): Promise<void> {
  const { expanded = [], tenant, _id: planId, epoch } = plan;
  if (expanded.length === 0) return;
  const steps = await collections.steps
    .find({ tenant, planId }, { projection: { key: 1, position: 1, tool: 1 } })
    .toArray();
  const found = new Map(steps.map((step) => [step.key, step]));
  const missing = expanded.flatMap(({ stepId, items }) => {
    const step = found.get(stepId);
    return Array.from({ length: items }, (_, item) => ({ stepId, item, key: itemKey(stepId, item), step }));
  });
  const documents = missing.flatMap(({ step, key, stepId, item }) => {
    if (!step || found.has(key)) return [];
    const { position, tool } = step;
    return [newStep(plan, { key, stepId, item, position, tool, epoch, waitReason: null })];
  });
  if (documents.length === 0) return;
  try {
    await collections.steps.insertMany(documents, { ordered: false });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error; // those that an earlier owner inserted after all
  }
}

/** How many items each step has at least: those that were there before stay in front. */
function sizesOf(documents: readonly StepDocument[]): { stepId: string; items: number }[] {
  const sizes = new Map<string, number>();
  for (const { stepId, item } of documents) {
    sizes.set(stepId, Math.max(sizes.get(stepId) ?? 0, (item ?? -1) + 1));
  }
  return [...sizes].map(([stepId, items]) => ({ stepId, items }));
}
