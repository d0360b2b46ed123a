import type { JsonObject } from "@planwright/plan";
import type { StepDocument } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import type { GroupSet } from "../group-commit/group-commit.ts";
import { measureValue } from "../outputs/inline-value.ts";
import { previewOf } from "../outputs/preview.ts";
import type { PlanClaim } from "../store.ts";

/** @throws {LeaseLostError} for a unit that this claim never wrote: it cannot be its owner's to change */
export function unitOf({ plan, epoch, steps }: PlanClaim, key: string): StepDocument {
  const document = steps.get(key);
  if (!document) throw new LeaseLostError({ id: `${plan._id}/${key}`, epoch });
  return document;
}

/** Fields of a unit that change now. */
export interface UnitChange {
  document: StepDocument;
  fields: Partial<StepDocument>;
  nowMs: number;
}

/** Keeps the claim's copy of a unit current. Returns the write, with what was noted of the unit before. */
export function changeUnit(claim: PlanClaim, { document, fields, nowMs }: UnitChange): GroupSet {
  const noted = claim.noted.get(document.key)?.change;
  claim.noted.delete(document.key);
  const set = { ...noted, ...fields, updatedAt: new Date(nowMs) };
  Object.assign(document, set);
  const condition = { epoch: claim.epoch, finishedAt: null };
  return { collection: "steps", id: document._id, condition, set };
}

/** @throws {LeaseLostError} unless all writes under a claim were done: somebody else holds the plan by now */
export function requireHeld({ plan, epoch }: PlanClaim, answers: readonly boolean[]): void {
  if (answers.includes(false)) throw new LeaseLostError({ id: plan._id, epoch });
}

/** Arguments as they stand in a document: themselves, or what is kept of large ones. */
export function keptArguments(args: JsonObject): Pick<StepDocument, "arguments" | "argumentsPreview"> {
  const measured = measureValue(args);
  return measured.fits
    ? { arguments: args, argumentsPreview: null }
    : { arguments: null, argumentsPreview: previewOf(measured) };
}
