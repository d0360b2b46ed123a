import type { EventEmitter } from "node:events";
import type { LeftOutTool, ToolDescriptor } from "@planwright/plan";
import type { Queues } from "@planwright/queue";
import type { ClientStore, Fleet, LiveWorkers, ModelLimits } from "@planwright/store";
import { LRUCache } from "lru-cache";
import type { Caller } from "../access/gate.ts";
import type { Operation } from "../errors/telemetry.ts";
import type { RequestFeeds } from "../feeds/request-feeds.ts";
import { type AnswerBytes, type AnswerLimits, createAnswerBytes } from "../load/answer-bytes.ts";
import { createReads, type Reads } from "./reads.ts";

/**
 * Hints to planners and executors about new work. An offer never throws and never waits; sweepers find the
 * work of lost offers.
 */
export type WorkOffers = Pick<Queues, "offerPlanning" | "offerExecution" | "reserveExecution">;

/** Dependencies of the operations of one call. */
export interface OperationContext {
  store: ClientStore;
  knownTools: KnownTools;
  offers: WorkOffers;
  tenant: string;
  /** Name of the caller, recorded with its decisions. */
  by: string;
  /** True when no planner has a language model. Default: not known. */
  isModelMissing?: (() => Promise<boolean>) | undefined;
  /**
   * Until when planning for a tenant waits, because it has made its model calls of an hour; null: it does not.
   * Absent: it never does.
   */
  modelPause?: ((tenant: string) => Promise<{ maxPerHour: number; until: Date } | null>) | undefined;
  /** Limits of model calls for one request; clients may set lower ones. Default: no limits. */
  modelLimits?: ModelLimits | undefined;
  /** Highest timeoutMs of a step, in milliseconds. Default: the limit of the plan language. */
  maxStepTimeoutMs?: number | undefined;
  /**
   * Address of the web page of a trace, with `{traceId}` in place of its id. Default: traces have no address.
   */
  traceUrlTemplate?: string | undefined;
  /**
   * Aborted when the client disconnects or the service stops. Then waiting ends, but accepted work continues.
   */
  signal?: AbortSignal | undefined;
  /** Log facts and span of the operation. Default: none. */
  operation?: Operation | undefined;
  /** Releases the slot of a query or mutation: from now on the operation only waits. */
  releaseSlot?: (() => void) | undefined;
  /**
   * Reserves one more unfinished plan, for each plan of a bulk mutation. The plan of a mutation for one
   * request is reserved before it runs. Throws OverloadedError.
   */
  reservePlan?: (() => Promise<void>) | undefined;
}

/** The context of every resolver; a new one for each call. */
export interface GraphqlContext extends OperationContext {
  /** The caller. */
  caller: Caller;
  /** Changes of requests, for clients that follow them. */
  feeds: RequestFeeds;
  operation: Operation;
  /** Measures the answer. A subscription gets a new one for each result, as for `reads`. */
  bytes: AnswerBytes;
  reads: Reads;
  /** Time of the call, or of a subscription's event, in Unix milliseconds: one "now" for the whole answer. */
  nowMs: number;
  /** The live workers, on which wait reasons depend. */
  liveWorkers: () => Promise<LiveWorkers>;
  /** The beginning of an answer that is still arriving; null when it is not known. */
  readPartialAnswer: (callId: string) => Promise<string | null>;
  /** All workers, and the work that waits for them, of all tenants. */
  readFleet: () => Promise<Fleet>;
}

/** The context of one call, with the tenant of its caller. */
export function createContext(
  dependencies: Omit<OperationContext, "tenant" | "by"> &
    Pick<GraphqlContext, "feeds" | "operation" | "liveWorkers" | "readFleet" | "readPartialAnswer"> & {
      answers: AnswerLimits;
    },
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

/** The running calls, so that their waits can be ended. */
interface OpenCalls {
  /** A signal that is aborted when the response closes, or when all calls end. */
  begin(response: EventEmitter & { readonly closed?: boolean }): AbortSignal;
  /** Ends the waiting of all current and later calls. */
  endAll(): void;
}

/**
 * Each call has its own controller. Signals that are chained to one long-lived signal would stay in memory
 * after their call.
 */
export function createOpenCalls(): OpenCalls {
  const open = new Set<AbortController>();
  let isEnding = false;
  return {
    begin(response) {
      const call = new AbortController();
      // The client may have left while its credential was looked up: no event tells it then.
      if (isEnding || response.closed) call.abort();
      if (response.closed) return call.signal;
      open.add(call);
      response.once("close", () => {
        open.delete(call);
        call.abort();
      });
      return call.signal;
    },
    endAll() {
      isEnding = true;
      for (const call of open) call.abort();
    },
  };
}

/** How long a read catalogue is used, in milliseconds. */
const FRESH_MS = 1_000;
/** Most tenants whose catalogues are cached. */
const KEPT_TENANTS = 100;

/** The tool catalogue that plans are checked against, with the tools that servers list and no plan can use. */
export interface KnownTools {
  /**
   * Computes the answer with a catalogue of at most a second ago. If that answer is not good, computes it
   * with the current catalogue, so that a tool that was just published is known.
   */
  ask<Answer>(
    tenant: string,
    answerWith: (tools: readonly ToolDescriptor[], leftOut: readonly LeftOutTool[]) => Answer,
    isGood: (answer: Answer) => boolean,
  ): Promise<Answer>;
}

interface Known {
  readAt: number;
  tools: Promise<readonly [readonly ToolDescriptor[], readonly LeftOutTool[]]>;
}

/**
 * Reads a catalogue once for all submissions of a second: a read for each submission would cost more than
 * accepting it.
 * @param now - monotonic milliseconds
 */
export function createKnownTools(
  store: Pick<ClientStore, "toolCatalogue" | "leftOutTools">,
  now: () => number = () => performance.now(),
): KnownTools {
  const kept = new LRUCache<string, Known>({ max: KEPT_TENANTS });

  function readAgain(tenant: string): Known {
    const tools = Promise.all([store.toolCatalogue(tenant), store.leftOutTools()]);
    const fresh: Known = { readAt: now(), tools };
    kept.set(tenant, fresh);
    tools.catch(() => {
      if (kept.peek(tenant) === fresh) kept.delete(tenant);
    });
    return fresh;
  }

  return {
    async ask(tenant, answerWith, isGood) {
      const askedAt = now();
      const last = kept.get(tenant);
      const known = last && askedAt - last.readAt <= FRESH_MS ? last : readAgain(tenant);
      const answer = answerWith(...(await known.tools));
      if (isGood(answer) || known.readAt >= askedAt) return answer;
      return answerWith(...(await readAgain(tenant).tools));
    },
  };
}
