import type { PlanId, RequestId } from "@planwright/plan";
import type { ClientStore, ModelLimits } from "@planwright/store";
import type { Operation } from "./telemetry/operation.ts";
import type { KnownTools } from "./tools/known-tools.ts";

/** Hints to planners and executors. An offer never throws and never waits: what is lost, their sweepers find. */
export interface WorkOffers {
  offerPlanning(requestId: RequestId): void;
  offerExecution(planId: PlanId, epoch: number): void;
}

/** What the operations work with, for one client's request. */
export interface OperationParts {
  store: ClientStore;
  knownTools: KnownTools;
  offers: WorkOffers;
  tenant: string;
  /** Who asks, as it stands beside what is approved and settled. */
  by: string;
  /** Whether it is known that no planner has a language model. Default: it is not known. */
  isModelMissing?: (() => Promise<boolean>) | undefined;
  /** Most that the model calls of one request may take; clients may ask for less. Default: no limits. */
  modelLimits?: ModelLimits | undefined;
  /** Most that a step may ask for as its timeoutMs, in milliseconds. Default: that of the plan language. */
  maxStepTimeoutMs?: number | undefined;
  /** Aborted when the client is gone or the service stops: waiting ends, accepted work goes on. */
  signal?: AbortSignal | undefined;
  /** What the operation's log lines and span say. Default: nothing is told. */
  operation?: Operation | undefined;
  /** Gives the place among pending mutations back: from here on the operation only waits. */
  releasePlace?: (() => void) | undefined;
}

/** The part of a pino logger that the service uses. */
export interface ApiLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
