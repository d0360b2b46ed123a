import type { StepRecord } from "@planwright/engine";
import type { JsonValue } from "@planwright/plan";
import type { OutputRef, StepDocument } from "./documents.ts";

/** The outputs of these units that stand aside and are needed: those of units that completed. */
export function outputRefsOf(documents: Iterable<StepDocument>): OutputRef[] {
  return [...documents].flatMap(({ status, outputRef }) =>
    status === "COMPLETED" && outputRef ? [outputRef] : [],
  );
}

/** A unit's document as the engine reads it. @param aside - texts of outputs that stand aside, by id */
export function toStepRecord(
  document: StepDocument,
  aside: ReadonlyMap<string, string> = new Map(),
): StepRecord {
  const { outputRef, outputText } = document;
  const text = outputRef ? aside.get(outputRef.id) : undefined;
  const output: JsonValue | undefined = outputRef ? text && JSON.parse(text) : document.output;
  const written = outputRef?.isOwnText ? text : outputText;
  const unsent = document.attempts.filter((attempt) => attempt.unsent).length;
  const latest = document.attempts.at(-1);
  return {
    key: document.key,
    stepId: document.stepId,
    item: document.item ?? undefined,
    status: document.status,
    attempts: document.attempts.length,
    ...(unsent > 0 && { unsent }),
    ...(latest?.unsent && {
      unreachable: { since: latest.unsent.since.getTime(), tries: latest.unsent.tries },
    }),
    output: document.status === "COMPLETED" ? output : undefined,
    ...(document.status === "COMPLETED" && written !== undefined && { outputText: written }),
    error: document.error ?? undefined,
    waitReason: document.waitReason ?? undefined,
    approved: document.approved || undefined,
    carried: document.carriedFrom ? true : undefined,
    nextAttemptAt: document.nextAttemptAt?.getTime(),
    warnings: document.warnings.length > 0 ? document.warnings : undefined,
  };
}
