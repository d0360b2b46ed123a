import { type JsonValue, type PlanId, PlanIdSchema } from "@planwright/plan";
import type { StepHead } from "@planwright/store";

/** Stands for an output that is too large for an answer. */
export interface OutputReference {
  /** Under which it is read: `output(ref)`, and `GET /outputs/{ref}`. */
  ref: string;
  /** As JSON text in UTF-8, in bytes; null where that is not known before it is read. */
  sizeBytes: number | null;
  /** The beginning of its JSON text, at most 1 KiB; null where it is not at hand. */
  preview: string | null;
}

/** An output, or what stands for it. */
export type KeptOutput = { value: JsonValue } | { reference: OutputReference };

/** What a reference names: the output of a step or item, or one that its plan makes of several. */
export type OutputName = { planId: PlanId } & ({ stepKey: string } | { part: string });

/** Stands for the output of a step or item that is COMPLETED. */
export function referenceToStep({ planId, key, outputRef }: StepHead): OutputReference {
  const ref = `${planId}/steps/${key}`;
  // Of one in the document of its step the size is known as MongoDB stores it.
  return { ref, sizeBytes: outputRef?.sizeBytes ?? null, preview: outputRef?.preview ?? null };
}

/** Stands for a part of what a plan gives back. @param text - its JSON text, where that was made */
export function referenceToPart(planId: PlanId, part: string, text: string | null): OutputReference {
  const ref = `${planId}/outputs/${part}`;
  if (text === null) return { ref, sizeBytes: null, preview: null };
  // No half of a character at its end; a copy, since a slice would keep the whole text in memory.
  const beginning = text.slice(0, PREVIEW_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
  const preview = Buffer.from(beginning).toString();
  return { ref, sizeBytes: Buffer.byteLength(text), preview };
}
/** In UTF-16 units. */
const PREVIEW_LENGTH = 1_024;

/** As it stands where a value would be. */
export const toJson = (kept: KeptOutput): JsonValue =>
  "reference" in kept ? { ...kept.reference } : kept.value;

/** What a reference names; undefined when it was never given out. */
export function parseOutputRef(ref: string): OutputName | undefined {
  const [, id, kind, name] = /^([^/]{1,100})\/(steps|outputs)\/([^]{1,200})$/.exec(ref) ?? [];
  const planId = PlanIdSchema.safeParse(id);
  if (!planId.success || name === undefined) return undefined;
  return kind === "steps" ? { planId: planId.data, stepKey: name } : { planId: planId.data, part: name };
}
