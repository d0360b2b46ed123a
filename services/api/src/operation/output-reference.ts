import type { StepRun } from "@planwright/engine";
import { type JsonValue, type PlanId, PlanIdSchema } from "@planwright/plan";

/** Replaces an output that is too large for an answer. */
export interface OutputReference {
  /** Name for `output(ref)` and `GET /outputs/{ref}`. */
  ref: string;
  /** Size as JSON text in UTF-8, in bytes; null if it is not known without a read. */
  sizeBytes: number | null;
  /** The beginning of its JSON text, at most 1 KiB; null if it is not available. */
  preview: string | null;
}

/** An output, or its reference. */
export type KeptOutput = { value: JsonValue } | { reference: OutputReference };

/** A parsed reference: the output of a step or item, or a named output of the plan. */
export type OutputName = { planId: PlanId } & ({ stepKey: string } | { part: string });

/** Reference to the output of a COMPLETED step or item. */
export function referenceToStep({
  planId,
  key,
  outputRef,
}: Pick<StepRun, "planId" | "key" | "outputRef">): OutputReference {
  const ref = `${planId}/steps/${key}`;
  // For an output in the document of its step, only the BSON size is known.
  return { ref, sizeBytes: outputRef?.sizeBytes ?? null, preview: outputRef?.preview ?? null };
}

/** Reference to a named output of a plan. @param text - its JSON text, if it was made */
export function referenceToPart(planId: PlanId, part: string, text: string | null): OutputReference {
  const ref = `${planId}/outputs/${part}`;
  if (text === null) return { ref, sizeBytes: null, preview: null };
  // Ends with a complete character. It is copied, because a slice would keep the complete text in memory.
  const beginning = text.slice(0, PREVIEW_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
  const preview = Buffer.from(beginning).toString();
  return { ref, sizeBytes: Buffer.byteLength(text), preview };
}
/** In UTF-16 units. */
const PREVIEW_LENGTH = 1_024;

/** The JSON value that is sent: the output or its reference. */
export const toJson = (kept: KeptOutput): JsonValue =>
  "reference" in kept ? { ...kept.reference } : kept.value;

/** Parses a reference; undefined for an invalid one. */
export function parseOutputRef(ref: string): OutputName | undefined {
  const [, id, kind, name] = /^([^/]{1,100})\/(steps|outputs)\/([^]{1,200})$/.exec(ref) ?? [];
  const planId = PlanIdSchema.safeParse(id);
  if (!planId.success || name === undefined) return undefined;
  return kind === "steps" ? { planId: planId.data, stepKey: name } : { planId: planId.data, part: name };
}
