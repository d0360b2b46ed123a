import type { JsonValue, StepStatus } from "@planwright/plan";
import type { StepBody, StepHead } from "@planwright/store";
import { cleanJson } from "./bundle-section.ts";

/** Largest output that stands in a bundle itself, as JSON in UTF-8, in bytes. */
const MAX_OUTPUT_BYTES = 16_384;
const PREVIEW_LENGTH = 1_024;

/** What a bundle holds of a large output. */
interface LargeOutput {
  /** Under which output(ref) gives the whole. */
  ref: string;
  sizeBytes: number;
  /** The beginning of its JSON text, without secrets; null for one that stands aside of its step. */
  preview: string | null;
}

/** A step as it was read for a bundle. */
export interface ReadStep {
  head: StepHead;
  body: StepBody | null;
  /** Null for one that stands aside, too. */
  output: JsonValue;
}

/** A step as a bundle holds it. */
type BundledStep = Pick<StepHead, "status"> & Partial<StepBody> & { output: JsonValue | LargeOutput };

/** A step or item as it is recorded; an output over 16 KiB by reference. */
export function bundleStep({ head, body, output }: ReadStep): BundledStep {
  const {
    _id,
    tenant: _tenant,
    planId: _planId,
    requestId: _requestId,
    seq: _seq,
    outputRef: _outputRef,
    attemptCount: _attemptCount,
    bodyBytes: _bodyBytes,
    outputBytes: _outputBytes,
    ...recorded
  } = head;
  const { _id: _bodyId, ...more } = body ?? { _id };
  return { ...recorded, ...more, output: shownOutput(head, output) };
}

function shownOutput(
  { planId, key, status, outputRef }: StepHead,
  output: JsonValue,
): JsonValue | LargeOutput {
  const ref = `${planId}/steps/${key}`;
  if (outputRef) return { ref, sizeBytes: outputRef.sizeBytes, preview: null };
  if (status !== "COMPLETED") return null;
  const sizeBytes = Buffer.byteLength(JSON.stringify(output));
  if (sizeBytes <= MAX_OUTPUT_BYTES) return output;
  return { ref, sizeBytes, preview: cleanJson(output).slice(0, PREVIEW_LENGTH) };
}

/** What failed or is open before what completed: where there is no room for all, it tells more. */
export function byWeight(a: Pick<StepHead, "status">, b: Pick<StepHead, "status">): number {
  return weight(a) - weight(b);
}

const weight = ({ status }: Pick<StepHead, "status">) => WEIGHT[status];

const WEIGHT: Readonly<Record<StepStatus, number>> = {
  FAILED: 0,
  IN_DOUBT: 0,
  PENDING: 1,
  WAITING_APPROVAL: 1,
  RUNNING: 1,
  RETRYING: 1,
  SKIPPED: 1,
  CANCELLED: 1,
  COMPLETED: 2,
};
