import type { ModelCallEnd } from "@planwright/store";

/** Counts model calls. Never waits and never throws. */
export interface ModelMetrics {
  /** A model call ended, with or without an answer. @param model - "provider:model" */
  called(model: string, end: ModelCallEnd): void;
  /** The drafter is asked to repair its own draft. */
  repaired(): void;
}

/** Counts nothing. */
export const NO_MODEL_METRICS: ModelMetrics = { called: () => undefined, repaired: () => undefined };
