import { type JsonValue, type StepStatus, stringifyExactJson } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";
import type { StepBody, StepHead } from "@planwright/store";

/** Largest output that a bundle holds inline, in bytes of JSON in UTF-8. */
const MAX_OUTPUT_BYTES = 16_384;
const PREVIEW_LENGTH = 1_024;
/** Outputs have at most 64 levels, and texts in them may be JSON too. */
const MAX_DEPTH = 200;

/** A large output in a bundle. */
interface LargeOutput {
  /** The complete output is read with output(ref). */
  ref: string;
  sizeBytes: number;
  /** The beginning of its JSON text, without secrets; null for an output that is stored separately. */
  preview: string | null;
}

/** A step as it was read for a bundle. */
export interface ReadStep {
  head: StepHead;
  body: StepBody | null;
  /** Also null for an output that is stored separately. */
  output: JsonValue;
}

/** A step as a bundle holds it. */
type BundledStep = Pick<StepHead, "status"> & Partial<StepBody> & { output: JsonValue | LargeOutput };

/** A recorded step or item; an output over 16 KiB is replaced by a reference. */
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
  const preview = stringifyExactJson(redactJson(output, { maxDepth: MAX_DEPTH })).slice(0, PREVIEW_LENGTH);
  return { ref, sizeBytes, preview };
}

/** Failed and open steps before completed ones: they are more useful when not all fit. */
export function byWeight(a: Pick<StepHead, "status">, b: Pick<StepHead, "status">): number {
  return WEIGHT[a.status] - WEIGHT[b.status];
}

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
