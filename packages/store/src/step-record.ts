import type { StepRecord } from "@planwright/engine";
import type { StepDocument } from "./documents.ts";

/** A unit's document as the engine reads it. */
export function toStepRecord(document: StepDocument): StepRecord {
  return {
    key: document.key,
    stepId: document.stepId,
    item: document.item ?? undefined,
    status: document.status,
    attempts: document.attempts.length,
    output: document.status === "COMPLETED" ? document.output : undefined,
    error: document.error ?? undefined,
    waitReason: document.waitReason ?? undefined,
    approved: document.approved || undefined,
    nextAttemptAt: document.nextAttemptAt?.getTime(),
    warnings: document.warnings.length > 0 ? document.warnings : undefined,
  };
}
