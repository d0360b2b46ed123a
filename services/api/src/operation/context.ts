import type { PlanId, RequestId } from "@planwright/plan";
import type { ClientStore, LiveWorkers, ModelLimits } from "@planwright/store";
import type { Caller } from "../access/caller.ts";
import type { RequestFeeds } from "../feeds/request-feeds.ts";
import { type AnswerBytes, type AnswerLimits, createAnswerBytes } from "../load/answer-bytes.ts";
import type { Operation } from "../telemetry/operation.ts";
import type { KnownTools } from "../tools/known-tools.ts";
import { createReads, type Reads } from "./reads.ts";

/** Hints to planners and executors. An offer never throws and never waits: what is lost, their sweepers find. */
export interface WorkOffers {
  offerPlanning(requestId: RequestId): void;
  offerExecution(planId: PlanId, epoch: number): void;
}

/** What the operations work with, for one client's request. */
export interface OperationContext {
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

/** What every resolver gets, made anew for each HTTP request. */
export interface GraphqlContext extends OperationContext {
  /** Who asks. */
  caller: Caller;
  /** The requests that clients follow. */
  feeds: RequestFeeds;
  operation: Operation;
  /** Measures the answer. Of a subscription: made anew for each of its answers, as `reads` is. */
  bytes: AnswerBytes;
  reads: Reads;
  /** Unix milliseconds when the request came, or a subscription's event: one "now" for the whole answer. */
  nowMs: number;
  /** The workers that are alive, by which wait reasons are told. */
  liveWorkers: () => Promise<LiveWorkers>;
}

/** The context of one HTTP request: bound to what its caller's credential says. */
export function createContext(
  dependencies: Omit<OperationContext, "tenant" | "by"> &
    Pick<GraphqlContext, "feeds" | "operation" | "liveWorkers"> & { answers: AnswerLimits },
  caller: Caller,
  nowMs: number,
): GraphqlContext {
  const { tenant, name: by } = caller;
  const { answers, ...rest } = dependencies;
  const bytes = createAnswerBytes(answers, { tenant, signal: dependencies.signal });
  const context: GraphqlContext = {
    ...rest,
    bytes,
    caller,
    tenant,
    by,
    nowMs,
    reads: createReads(dependencies.store, tenant, bytes),
  };
  return context;
}
