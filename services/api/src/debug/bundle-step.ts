import type { JsonValue } from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import { cleanJson } from "./bundle-section.ts";

/** Largest output that stands in a bundle itself, as JSON in UTF-8, in bytes. */
const MAX_OUTPUT_BYTES = 16_384;
const PREVIEW_LENGTH = 1_024;

/** What a bundle holds of a large output. */
interface OutputReference {
  /** Of the step, under which plan(id) { steps { key output } } gives the whole. */
  outputOf: string;
  sizeBytes: number;
  /** The beginning of its JSON text, without secrets; null for one that stands aside of its step. */
  preview: string | null;
}

/** A step as a bundle holds it. */
type BundledStep = Omit<
  StepDocument,
  "_id" | "tenant" | "planId" | "requestId" | "writeId" | "output" | "outputRef"
> & { output: JsonValue | OutputReference };

/** A step or item as it is recorded; an output over 16 KiB by reference. */
export function bundleStep(step: StepDocument): BundledStep {
  const {
    _id,
    tenant: _tenant,
    planId: _planId,
    requestId: _requestId,
    writeId: _writeId,
    output: _output,
    outputRef: _outputRef,
    ...recorded
  } = step;
  return { ...recorded, output: outputOf(step) };
}

function outputOf({ _id, status, output, outputRef }: StepDocument): JsonValue | OutputReference {
  if (outputRef) return { outputOf: _id, sizeBytes: outputRef.sizeBytes, preview: null };
  if (status !== "COMPLETED") return null;
  const sizeBytes = Buffer.byteLength(JSON.stringify(output));
  if (sizeBytes <= MAX_OUTPUT_BYTES) return output;
  return { outputOf: _id, sizeBytes, preview: cleanJson(output).slice(0, PREVIEW_LENGTH) };
}

/** What failed or is open before what completed: where there is no room for all, it tells more. */
export function byWeight(a: Pick<StepDocument, "status">, b: Pick<StepDocument, "status">): number {
  return weight(a) - weight(b);
}

const weight = ({ status }: Pick<StepDocument, "status">) =>
  status === "FAILED" || status === "IN_DOUBT" ? 0 : status === "COMPLETED" ? 2 : 1;
