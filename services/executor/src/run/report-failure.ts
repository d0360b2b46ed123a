import { CodedError } from "@planwright/plan";
import { LeaseLostError, RequestRemovedError, StoreUnavailableError } from "@planwright/store";
import type { RunParts } from "./run-parts.ts";

/** Logs, counts and traces why a run ended without writing anything more. */
export function reportFailure(
  error: unknown,
  { metrics, trace, logger }: Pick<RunParts, "metrics" | "trace" | "logger">,
): void {
  if (error instanceof LeaseLostError) {
    metrics.leaseLost();
    trace?.ended("lease lost", error.code);
    logger.warn({ code: error.code }, "lease lost");
  } else if (error instanceof StoreUnavailableError) {
    trace?.ended("broken off", error.code);
    const facts = { err: error, code: error.code };
    logger.warn(facts, "the database was lost; the plan is left to any executor");
  } else if (error instanceof RequestRemovedError) {
    // Its end was durable, and the answer to this process came too late: nothing is left to do.
    trace?.ended("broken off", error.code);
    logger.warn({ code: error.code }, "the request was removed, as it had ended long ago");
  } else {
    trace?.ended("broken off", error instanceof CodedError ? error.code : "INTERNAL");
    logger.error({ err: error }, "run ended early; the plan is left to any executor");
  }
}
