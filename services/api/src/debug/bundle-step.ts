import type { StepRun } from "@planwright/engine";
import { type JsonValue, type StepStatus, stringifyExactJson } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";

/** Largest output that a bundle holds inline, in bytes of JSON in UTF-8. */
const MAX_OUTPUT_BYTES = 16_384;
const PREVIEW_LENGTH = 1_024;
/** Outputs have at most 64 levels, and texts in them may be JSON too. */
const MAX_DEPTH = 200;

/** A large output in a bundle: over 16 KiB, or stored separately. */
interface LargeOutput {
  /** The complete output is read with output(ref). */
  ref: string;
  sizeBytes: number;
  /** The beginning of its JSON text, without secrets; null for an output that is stored separately. */
  preview: string | null;
}

/** A recorded step or item as a bundle holds it: what it names elsewhere is left out. */
export function bundleStep(step: StepRun): object {
  const {
    tenant: _tenant,
    planId,
    requestId: _requestId,
    seq: _seq,
    argumentsSeq: _argumentsSeq,
    arguments: args,
    errorSeq: _errorSeq,
    error,
    outputSeq: _outputSeq,
    outputRef: _outputRef,
    outputBytes: _outputBytes,
    outputText: _outputText,
    attempts,
    unanswered,
    ...recorded
  } = step;
  return {
    _id: `${planId}/${step.key}`,
    ...recorded,
    ...(unanswered.length > 0 && { unansweredCalls: unanswered }),
    error: error && withoutBytes(error),
    arguments: args?.value ?? null,
    argumentsPreview: args?.preview === undefined ? null : { sizeBytes: args.sizeBytes, text: args.preview },
    attempts: attempts.map(({ endSeq: _endSeq, error: failure, ...attempt }) => ({
      ...attempt,
      error: failure && withoutBytes(failure),
    })),
    output: shownOutput(step),
  };
}

function withoutBytes(error: NonNullable<StepRun["error"]>): object {
  const { dataBytes: _, ...kept } = error;
  return kept;
}

function shownOutput({ planId, key, status, outputRef, output = null }: StepRun): JsonValue | LargeOutput {
  const ref = `${planId}/steps/${key}`;
  if (outputRef) return { ref, sizeBytes: outputRef.sizeBytes, preview: null };
  if (status !== "COMPLETED") return null;
  const sizeBytes = Buffer.byteLength(JSON.stringify(output));
  if (sizeBytes <= MAX_OUTPUT_BYTES) return output;
  const preview = stringifyExactJson(redactJson(output, { maxDepth: MAX_DEPTH })).slice(0, PREVIEW_LENGTH);
  return { ref, sizeBytes, preview };
}

/** Failed and open steps before completed ones: they are more useful when not all fit. */
export function byWeight(a: Pick<StepRun, "status">, b: Pick<StepRun, "status">): number {
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
