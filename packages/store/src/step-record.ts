import type { StepRecord } from "@planwright/engine";
import type { JsonValue } from "@planwright/plan";
import type { OutputRef, StepDocument } from "./documents.ts";

/** The outputs of these units that stand aside and are needed: those of units that completed. */
export function outputRefsOf(documents: Iterable<StepDocument>): OutputRef[] {
  return [...documents].flatMap(({ status, outputRef }) =>
    status === "COMPLETED" && outputRef ? [outputRef] : [],
  );
}

/** A unit's document as the engine reads it. @param outputs - those that stand aside, by id */
export function toStepRecord(
  document: StepDocument,
  outputs: ReadonlyMap<string, JsonValue> = new Map(),
): StepRecord {
  const { outputRef } = document;
  const output = outputRef ? outputs.get(outputRef.id) : document.output;
  return {
    key: document.key,
    stepId: document.stepId,
    item: document.item ?? undefined,
    status: document.status,
    attempts: document.attempts.length,
    output: document.status === "COMPLETED" ? output : undefined,
    error: document.error ?? undefined,
    waitReason: document.waitReason ?? undefined,
    approved: document.approved || undefined,
    carried: document.carriedFrom ? true : undefined,
    nextAttemptAt: document.nextAttemptAt?.getTime(),
    warnings: document.warnings.length > 0 ? document.warnings : undefined,
  };
}
