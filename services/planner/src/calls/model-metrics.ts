import type { ModelCallEnd } from "@planwright/store";

/** Hears of calls of models, to count them. Never waits and never throws. */
export interface ModelMetrics {
  /** A call of a model ended, whichever way. @param model - "provider:model" */
  called(model: string, end: ModelCallEnd): void;
  /** The drafter is asked to put its own draft right. */
  repaired(): void;
}

/** Counts nothing. */
export const NO_MODEL_METRICS: ModelMetrics = { called: () => undefined, repaired: () => undefined };
